"""What machine a figure was measured on: processor, cores, memory, BLAS, versions. A figure without it means little."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["describe", "one_line"]

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def describe() -> dict[str, Any]:
    """This machine and its libraries, as plain data for a JSON file.

    Keys: processor, architecture, cores (this process may use), cores_present, memory_bytes, system, python, numpy,
    blas, blas_threads (None when unknown), thread_variables (those that are set).
    """
    blas, threads = _blas()
    return {
        "processor": _processor(),
        "architecture": platform.machine(),
        "cores": usable_cores(),
        "cores_present": os.cpu_count(),
        "memory_bytes": _memory(),
        "system": f"{platform.system()} {platform.release()}".strip(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": blas,
        "blas_threads": threads,
        "thread_variables": {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
    }


def one_line(description: dict[str, Any] | None = None) -> str:
    """One line for under a picture: "Intel Xeon … · 2 of 8 cores · OpenBLAS 0.3.30, 2 threads · NumPy 2.4.6"."""
    d = describe() if description is None else description
    cores, present = d.get("cores"), d.get("cores_present")
    if cores is None:
        count = ""
    elif present is None or cores == present:
        count = _plural(cores, "core")
    else:
        count = f"{cores:g} of {_plural(present, 'core')}"
    blas = d.get("blas") or ""
    if blas and d.get("blas_threads") is not None:
        blas += f", {_plural(d['blas_threads'], 'thread')}"
    parts = [
        d.get("processor") or d.get("architecture") or "",
        count,
        blas,
        f"NumPy {d['numpy']}" if d.get("numpy") else "",
        f"Python {d['python']}" if d.get("python") else "",
    ]
    return " · ".join(part for part in parts if part)


def usable_cores() -> float:
    """How many cores this process may use: its affinity, or a container's quota when that is less."""
    cores: float = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            cores = min(cores, round(int(quota) / int(period), 2))
    except (OSError, ValueError):
        pass  # Not Linux, or an older control group: the affinity is all that is known.
    return cores


def _plural(count: float, word: str) -> str:
    return f"{count:g} {word}" if count == 1 else f"{count:g} {word}s"


@cache
def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("model name", "Model", "Hardware") and value.strip():
                return " ".join(value.split())
    except OSError:
        pass  # Not Linux.
    return platform.processor() or platform.machine()


def _memory() -> int | None:
    try:
        present = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    try:
        quota = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        return present if quota == "max" else min(present, int(quota))
    except (OSError, ValueError):
        return present


def _blas() -> tuple[str, int | None]:
    """Name, version and threads of the BLAS that NumPy calls: from threadpoolctl, else from NumPy's build record."""
    try:
        import threadpoolctl
    except ImportError:
        pass
    else:
        for pool in threadpoolctl.threadpool_info():
            if pool.get("user_api") == "blas":
                name = {"openblas": "OpenBLAS", "mkl": "MKL", "blis": "BLIS"}.get(pool["internal_api"], "BLAS")
                version = (pool.get("version") or "").split(" ")[0]
                return f"{name} {version}".strip(), pool.get("num_threads")
    try:
        built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{built['name']} {built['version']}".strip(), _threads_from_environment()
    except (KeyError, TypeError):
        return "", _threads_from_environment()


def _threads_from_environment() -> int | None:
    for name in THREAD_VARIABLES:
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    return None
