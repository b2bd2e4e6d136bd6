"""Measures what `snapscope run` and `snapscope record` cost: overhead.py SNAPSCOPE FOLDER PYTHON [ROUNDS]

The same training loop runs in turn with the virtual GPU alone, where it records its own history, by `snapscope run`, and
by `snapscope record` on the virtual GPU. The table has the medians of all rounds and of their ratios. Time of the
processor counts, of all threads, because other programs of the machine change it less.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

LOOP = Path(__file__).resolve().parents[1] / "scripts" / "loop.py"
# Enough that the first partial snapshot, which comes after a second, is a small part of the run.
STEPS = "500"
# Events that each of the histories holds.
ENTRIES = "2000000"


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
    with tempfile.TemporaryDirectory() as scratch:
        script = [python, str(LOOP), STEPS]
        run = [snapscope, "run", "--card", "h100-80gb", "-o", f"{scratch}/loop.pickle", "--", *script]
        record = [snapscope, "record", "-o", scratch, "--entries", ENTRIES, "--", *script]
        ways = {
            "virtual GPU and its own history": ([*script, ENTRIES], alone),
            "`snapscope run`": (run, {"SNAPSCOPE_VIRTUAL_GPU_LIBRARIES": folder}),
            "`snapscope record`": (record, alone),
        }
        found = {name: [] for name in ways}
        for number in range(rounds):
            for name, (command, variables) in ways.items():
                found[name].append(loop(command, variables))
            seconds = ", ".join(f"{spent[-1]['processor']:.2f} s" for spent in found.values())
            print(f"round {number + 1}: {seconds}", file=sys.stderr, flush=True)
    own = next(iter(found.values()))
    print(f"| loop of GPT-2, {STEPS} steps | processor | wall clock | events | events per second | ratio, of all rounds |")
    print("|---|---|---|---|---|---|")
    for name, spent in found.items():
        processor, wall = (median(each[key] for each in spent) for key in ("processor", "wall"))
        events = spent[0]["events"]
        ratios = [each["processor"] / first["processor"] for first, each in zip(own, spent)]
        ratio = f"{median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}"
        print(f"| {name} | {processor:.2f} s | {wall:.2f} s | {events:,} | {events / processor:,.0f} | {ratio} |")


main()
