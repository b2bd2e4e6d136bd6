"""Measures what `snapscope run` costs: overhead.py SNAPSCOPE FOLDER PYTHON [ROUNDS]

The same training loop runs in turn with the virtual GPU alone, where it records its own history, and by `snapscope run`.
The table has the medians of all rounds and of their ratios. Time of the processor counts, of all threads, because other
programs of the machine change it less.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

LOOP = Path(__file__).resolve().parents[1] / "scripts" / "loop.py"
STEPS = "100"


def loop(command: list[str], variables: dict[str, str]) -> dict[str, float]:
    """Runs the loop and returns what it printed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTORCH_", "CUDA_", "LD_"))}
    done = subprocess.run(command, env=kept | variables, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"loop"')]
    if not lines:
        sys.exit(done.stdout + done.stderr)
    return json.loads(lines[0])["loop"]


def main() -> None:
    """Prints the table."""
    snapscope, folder, python = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    alone = {
        "LD_AUDIT": f"{folder}/libsnapscope_audit.so",
        "TRITON_LIBCUDA_PATH": folder,
        "SNAPSCOPE_VIRTUAL_GPU": "h100-80gb",
    }
    own, by_run = [], []
    with tempfile.TemporaryDirectory() as scratch:
        run = [snapscope, "run", "--card", "h100-80gb", "-o", f"{scratch}/loop.pickle", "--", python, str(LOOP), STEPS]
        for number in range(rounds):
            own.append(loop([python, str(LOOP), STEPS, "own"], alone))
            by_run.append(loop(run, {"SNAPSCOPE_VIRTUAL_GPU_LIBRARIES": folder}))
            seconds = f"{own[-1]['processor']:.2f} s alone, {by_run[-1]['processor']:.2f} s by run"
            print(f"round {number + 1}: {seconds}", file=sys.stderr, flush=True)
    print("| loop of GPT-2, 100 steps | processor | wall clock | events | events per second |\n|---|---|---|---|---|")
    for name, found in (("virtual GPU and its own history", own), ("`snapscope run`", by_run)):
        processor, wall = (median(each[key] for each in found) for key in ("processor", "wall"))
        events = found[0]["events"]
        print(f"| {name} | {processor:.2f} s | {wall:.2f} s | {events:,} | {events / processor:,.0f} |")
    ratios = [other["processor"] / each["processor"] for each, other in zip(own, by_run)]
    print(f"\nratio: {median(ratios):.2f}, of {rounds} rounds from {min(ratios):.2f} to {max(ratios):.2f}")


main()
