"""Runs workloads that a real GPU has recorded by `snapscope run`, and compares: workloads.py PROGRAM CARD PYTHON FOLDER

FOLDER has `workloads.py`, which records the workload that it is given into `OUTDIR`, and for each workload NAME the
snapshot `NAME.pickle.gz` and the allocator's counters `NAME.json` of the real GPU. Names after FOLDER choose some.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from likeness import compare, load

# Largest deviations of peaks that count as the same, in percent.
ALLOCATED, RESERVED = 0.1, 1.0


def peaks(path: Path) -> list[int]:
    """Highest allocated and reserved bytes."""
    stats = json.loads(path.read_text())["stats"]
    return [stats[f"{kind}_bytes.all.peak"] for kind in ("allocated", "reserved")]


def row(name: str, run: list[str], folder: Path) -> tuple[bool, bool, bool]:
    """Runs a workload and prints its row; returns whether events, allocated and reserved peak are the real ones."""
    with tempfile.TemporaryDirectory() as made:
        out = Path(made)
        command = [*run, folder / "workloads.py", name]
        subprocess.run(command, cwd=out, env=os.environ | {"OUTDIR": made}, capture_output=True, timeout=900, check=False)
        if not (out / f"{name}.pickle.gz").exists():
            print(f"| {name} | did not run | | |", flush=True)
            return False, False, False
        found = compare(load(folder / f"{name}.pickle.gz"), load(out / f"{name}.pickle.gz"))
        pairs = zip(peaks(folder / f"{name}.json"), peaks(out / f"{name}.json"), strict=True)
        allocated, reserved = ((virtual - real) / real * 100 for real, virtual in pairs)
    events = f"all {found.events:,}" if found.is_equal else f"{found.prefix:,} of {found.events:,}"
    print(f"| {name} | {events} | {allocated:+.3f} % | {reserved:+.2f} % |", flush=True)
    return found.is_equal, abs(allocated) <= ALLOCATED, abs(reserved) <= RESERVED


def main() -> None:
    """Prints the table."""
    program, card, python, folder, *names = sys.argv[1:]
    known = (path.name.removesuffix(".json") for path in sorted(Path(folder).glob("*.json")))
    run = [program, "run", "--card", card, "--", python]
    print("| workload | equal events | peak allocated | peak reserved |\n| --- | --- | --- | --- |")
    rows = [row(name, run, Path(folder).resolve()) for name in names or known]
    equal, allocated, reserved = map(sum, zip(*rows, strict=True))
    print(f"| {len(rows)} | {equal} | {allocated} within {ALLOCATED} % | {reserved} within {RESERVED:g} % |")


if __name__ == "__main__":
    main()
