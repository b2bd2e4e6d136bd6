"""Runs a script by `snapscope run` and by FakeGPU's preflight: rival.py SNAPSCOPE PYTHON FAKEGPU [SCRIPT]

FAKEGPU is a clone of FanBB2333/FakeGPU, whose Python package needs no build for this. Both take the same Python and the
same script, one after the other, on a card of the class of the H100.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "steps.py"
HEADS = ["", "verdict", "wall clock", "processor", "host memory", "peak allocated", "peak reserved"]
MIB = 1 << 20


def timed(command: list[str], variables: dict[str, str], folder: str) -> tuple[str, list[str]]:
    """Runs a command; returns what it printed, and its times and the memory of its largest process."""
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTORCH_", "CUDA_", "LD_"))}
    process = subprocess.Popen(
        command, env=kept | variables, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    peak = 0
    while process.poll() is None:
        peak = max(peak, resident(process.pid))
        time.sleep(0.05)
    printed, said = process.communicate()
    if not printed:
        sys.exit(said)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return printed, [f"{time.monotonic() - begin:.1f} s", f"{processor:.1f} s", f"{peak / 2**30:.2f} GiB"]


def resident(root: int) -> int:
    """Returns the resident memory of a process and of those below it."""
    total, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        try:
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except (OSError, IndexError):
            continue
        total += pages * resource.getpagesize()
        waiting += map(int, children)
    return total


def ours(snapscope: str, python: str, script: str, folder: str) -> list[str]:
    """Row of `snapscope run`."""
    command = [snapscope, "run", "--json", "--card", "h100-80gb", "--", python, script]
    printed, cost = timed(command, {}, folder)
    run = json.loads(printed)["runs"][0]
    version = subprocess.run([snapscope, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    peaks = [f"{run[name] / MIB:,.0f} MiB" for name in ("peak_allocated_bytes", "peak_reserved_bytes")]
    return [f"`snapscope run` {version}", run["status"], *cost, *peaks]


def theirs(clone: str, python: str, script: str, folder: str) -> list[str]:
    """Row of FakeGPU."""
    command = [python, "-m", "fakegpu", "preflight", "--runtime", "fakecuda", "--profile", "h100"]
    printed, cost = timed([*command, "--report-dir", folder, "--", python, script], {"PYTHONPATH": clone}, folder)
    reports = [json.loads(path.read_text()) for path in Path(folder).glob("*.json")]
    found = [report for report in reports if "devices" in report and "status" in report]
    if not found:
        sys.exit(printed)
    device = max(found[0]["devices"], key=lambda device: device.get("peak_memory", 0))
    peaks = [f"{device[name] / MIB:,.0f} MiB" for name in ("allocated_peak_memory", "peak_reserved_memory")]
    version = (Path(clone) / "fakegpu" / "_version.py").read_text().split('"')[1]
    return [f"FakeGPU {version} `preflight --runtime fakecuda`", found[0]["status"], *cost, *peaks]


def main() -> None:
    """Prints the table."""
    snapscope, python, clone, *script = sys.argv[1:]
    snapscope = str(Path(snapscope).resolve())
    path = str(Path(script[0] if script else SCRIPT).resolve())
    ask = "import torch, transformers, sys; print(torch.__version__, transformers.__version__, sys.version.split()[0])"
    versions = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout.split()
    print(f"{Path(path).name}: torch {versions[0]}, transformers {versions[1]}, Python {versions[2]}\n")
    print(f"| {' | '.join(HEADS)} |\n|{' --- |' * len(HEADS)}", flush=True)
    for row, tool in ((ours, snapscope), (theirs, str(Path(clone).resolve()))):
        with tempfile.TemporaryDirectory() as folder:
            print(f"| {' | '.join(row(tool, python, path, folder))} |", flush=True)


main()
