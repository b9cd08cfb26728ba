"""`make bench`: import cost, then training steps and single ops against PyTorch eager and NumPy, median of three runs.

The training-step harness lies beside this checkout (`../shared/perf/bench.py`); one thread and processor time, so that
a busy machine does not change the ratios. Prints Markdown tables with the machine named; the README quotes from them.
Arguments: `--runs N`, `--only W2,W3,ops` (names of the harness), `--imports` for the import table alone.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
HARNESS = REPOSITORY.parent / "shared" / "perf" / "bench.py"
WORKLOADS = "W2,W3,W4,W5,W9,W10,ops"
PEERS = ("torch1", "np.limit")
# workload -> what a step may take at most, as a share of PyTorch eager's; a family counts by its geometric mean
BUDGETS = {"W2": 0.5, "W3": 0.5, "W4": 1.1, "W5": 1.1, "W9": 0.65, "W10": 0.5}
OP_TABLE = {"fwd/8": "forward, 8×8", "fwd/128": "forward, 128×128", "fb/8": "both, 8×8", "fb/128": "both, 128×128"}

IMPORT = """
import sys, time
began = time.perf_counter()
__import__(sys.argv[1])
took = time.perf_counter() - began
resident = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))
print(took, resident / 1024)
"""


def machine() -> str:
    """One line that names the machine."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"


def imports(rounds: int = 7) -> None:
    """Print what importing the library and NumPy costs in fresh interpreters: median seconds and resident memory."""
    print("\n| import | seconds | MB resident |\n|---|---|---|")
    for module in ("numpy", "autograd_lab"):
        command = [sys.executable, "-c", IMPORT, module]
        texts = [subprocess.check_output(command, text=True, cwd=REPOSITORY) for _ in range(rounds + 1)]
        numbers = [[float(x) for x in text.split()] for text in texts[1:]]  # the first run warms the file cache
        seconds, megabytes = (statistics.median(column) for column in zip(*numbers, strict=True))
        print(f"| {module} | {seconds:.3f} | {megabytes:.1f} |")


def measure(only: str) -> dict:
    """One run of the harness; its report."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, str(HARNESS), "--package", "autograd_lab", "--json", str(report), "--modes", "eager"]
        command += ["--threads", "1", "--clock", "cpu", "--no-compile", "--only", only, "--peers", ",".join(PEERS)]
        subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)
        return json.loads(report.read_text())


def family(workload: str) -> str:
    """`W10a` belongs to `W10`."""
    return workload.rstrip("abcdefghijklmnopqrstuvwxyz")


def steps(reports: list[dict]) -> None:
    """Print the ratio of a training step to PyTorch eager's, by workload and by family."""
    print("\n| workload | ms | torch ms | ratio | budget |\n|---|---|---|---|---|")
    ratios: dict[str, list[float]] = {}
    for name in reports[0]["workloads"]:
        runs = [r["workloads"][name] for r in reports]
        failed = [run["cand"].get("err") for run in runs if "ms" not in run["cand"]]
        if failed:
            print(f"| {name} | {str(failed[0])[:60]} | | | |")
            continue
        own, theirs = (statistics.median(run[p]["ms"] for run in runs) for p in ("cand", "torch1"))
        ratio = statistics.median(run["cand"]["ratio"]["torch1"] for run in runs)
        wrong = "" if all(run["cand"]["ok"] for run in runs) else " WRONG RESULT"
        ratios.setdefault(family(name), []).append(ratio)
        print(f"| {name} | {own:.3f} | {theirs:.3f} | {ratio:.2f}{wrong} | {BUDGETS.get(name, '')} |")
    for name, parts in ratios.items():
        if len(parts) > 1:
            print(f"| {name}, geometric mean | | | {statistics.geometric_mean(parts):.2f} | {BUDGETS.get(name, '')} |")


def operations(reports: list[dict]) -> None:
    """Print microseconds of one operation, the geometric mean over the harness's twenty, for each peer."""
    peers = [p for p in ("cand", *PEERS) if p in reports[0]["op_peers"]]
    print("\n| one operation, µs (how many ran) | " + " | ".join(peers) + " |\n" + "|---" * (len(peers) + 1) + "|")
    table = reports[0]["ops"]
    for prefix, label in OP_TABLE.items():
        keys = [key for key in table if key.startswith(prefix + "/")]
        cells = []
        for peer in peers:
            rows = [[report["ops"][key].get(peer) for report in reports] for key in keys]
            good = [statistics.median(row) for row in rows if all(isinstance(x, float) for x in row)]
            cells.append(f"{statistics.geometric_mean(good):.2f} ({len(good)})" if good else "–")
        print(f"| {label} | " + " | ".join(cells) + " |")


def main(arguments: list[str]) -> int:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--only", default=WORKLOADS)
    options.add_argument("--imports", action="store_true")
    chosen = options.parse_args(arguments)
    print(machine())
    imports()
    if chosen.imports:
        return 0
    if not HARNESS.is_file():
        print(f"the training-step harness is not at {HARNESS}", file=sys.stderr)
        return 1
    reports = [measure(chosen.only) for _ in range(chosen.runs)]
    steps(reports)
    if reports[0]["ops"]:
        operations(reports)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
