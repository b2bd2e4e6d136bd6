"""Runs trainings through Python and through `snapscope repro` on the same virtual GPU, and compares their memory.

usage: compare.py [NAME ...] [--random COUNT [--seed SEED]] [--keep FOLDER]

Prints a table in Markdown, then the modules that hold a different share of the peak.
Exit status 1 if a case allocates more than 3 % or reserves more than 5 % more or less than Python.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import names
import snapshots
import virtual
from cases import CASES, Case
from random_cases import random_cases

ALLOCATED_LIMIT = 0.03
RESERVED_LIMIT = 0.05
# The share of the peak by which a module's bytes may differ without a row of their own.
MODULE_LIMIT = 0.005

SNAPSCOPE = virtual.ROOT / "target" / "release" / "snapscope"
MIB = 2**20


@dataclass(frozen=True)
class Run:
    """One side of a case."""

    allocated_bytes: int
    reserved_bytes: int
    trace: list[snapshots.Event]
    oom: bool


@dataclass(frozen=True)
class Comparison:
    """Both sides of a case."""

    case: Case
    python: Run
    ours: Run

    @property
    def allocated(self) -> float:
        """By which share our peak of allocated bytes is higher."""
        return self.ours.allocated_bytes / self.python.allocated_bytes - 1

    @property
    def reserved(self) -> float:
        """By which share our peak of reserved bytes is higher."""
        return self.ours.reserved_bytes / self.python.reserved_bytes - 1

    @property
    def first_other(self) -> int | None:
        """The first event that is another one or of another size."""
        return snapshots.first_difference(settled(self.python.trace), settled(self.ours.trace))

    @property
    def passed(self) -> bool:
        """Whether both are within the limits, and both sides ended alike."""
        near = abs(self.allocated) <= ALLOCATED_LIMIT and abs(self.reserved) <= RESERVED_LIMIT
        return near and self.python.oom == self.ours.oom


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(description="Compares snapscope repro with Python.")
    parser.add_argument("names", nargs="*", help="cases to run; all by default")
    parser.add_argument("--random", type=int, metavar="COUNT", help="run so many random cases instead")
    parser.add_argument("--seed", type=int, default=0, help="which random cases")
    parser.add_argument("--keep", type=Path, help="folder that the snapshots are left in")
    arguments = parser.parse_args()
    known = random_cases(arguments.random, arguments.seed) if arguments.random else CASES
    cases = [case for case in known if not arguments.names or case.name in arguments.names]
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        comparisons = [compare(case, folder) for case in cases]
    print_table(comparisons)
    for comparison in comparisons:
        # Trainer's runs have no module paths.
        if comparison.case.arguments is None:
            print_modules(comparison)
    failed = [comparison.case.name for comparison in comparisons if not comparison.passed]
    print(f"\n{len(comparisons) - len(failed)} of {len(comparisons)} cases are within the limits")
    return 1 if failed else 0


def compare(case: Case, folder: Path) -> Comparison:
    """Runs both sides of a case at once."""
    stem = folder / "".join(letter if letter.isalnum() else "-" for letter in case.name).lower()
    config = stem.with_suffix(".json")
    config.write_text(json.dumps(case.config))
    with ThreadPoolExecutor() as pool:
        python = pool.submit(run_python, case, config, stem.with_suffix(".python.pickle"))
        ours = pool.submit(run_ours, case, config, stem.with_suffix(".pickle"))
        comparison = Comparison(case, python.result(), ours.result())
    change = f"{percent(comparison.allocated)} allocated, {percent(comparison.reserved)} reserved"
    print(f"{case.name}: {change}, first other event {comparison.first_other}", file=sys.stderr, flush=True)
    return comparison


def run_python(case: Case, config: Path, output: Path) -> Run:
    """The case with PyTorch and the libraries."""
    if case.arguments is None:
        arguments = ["train.py", str(config), "--modules"]
    else:
        arguments = ["trainer.py", str(config), str(written_arguments(case, config)), "--sequence", str(case.sequence)]
        arguments += ["--dtype", case.dtype] if case.dtype else []
    return finished(virtual.python(*arguments, "-o", str(output), cards=case.card), output)


def run_ours(case: Case, config: Path, output: Path) -> Run:
    """The case with `snapscope repro`."""
    command = [str(SNAPSCOPE), "repro", str(config), "--card", case.card, "-o", str(output), "--json"]
    if case.arguments is not None:
        command += ["--training-args", str(written_arguments(case, config)), "--seq-len", str(case.sequence)]
    return finished(subprocess.run(command, capture_output=True, text=True, check=False), output)


def written_arguments(case: Case, config: Path) -> Path:
    """The file with the case's training arguments, beside its config."""
    path = config.with_suffix(".arguments.json")
    path.write_text(json.dumps(case.arguments))
    return path


def finished(run: subprocess.CompletedProcess[str], output: Path) -> Run:
    """The result of a run from the JSON that it printed last, and its snapshot."""
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(run.args)}\nended with status {run.returncode}:\n{run.stderr[-2000:]}")
    printed = "\n" + run.stdout
    figures = json.loads(printed[printed.rindex("\n{") :])
    trace = snapshots.events(snapshots.load(output))
    return Run(figures["peak_allocated_bytes"], figures["peak_reserved_bytes"], trace, figures["oom"] is not None)


def settled(trace: list[snapshots.Event]) -> list[snapshots.Event]:
    """The events with frees in a row sorted by size.

    Autocast lets go of the weights that it has cast in the order of host addresses, which no two runs share.
    """
    done: list[snapshots.Event] = []
    for freeing, group in groupby(trace, key=lambda event: event["action"].startswith("free")):
        done += sorted(group, key=lambda event: event["size"]) if freeing else group
    return done


def print_table(comparisons: list[Comparison]) -> None:
    """The figures of all cases, in MiB."""
    peaks = "allocated: Python | ours | | reserved: Python | ours |"
    print(f"| training | card | {peaks} | events: Python | ours | first other |")
    print("| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
    for comparison in comparisons:
        python, ours = comparison.python, comparison.ours
        cells = [
            comparison.case.name,
            comparison.case.card,
            f"{python.allocated_bytes / MIB:,.1f}",
            f"{ours.allocated_bytes / MIB:,.1f}",
            percent(comparison.allocated),
            f"{python.reserved_bytes / MIB:,.0f}",
            f"{ours.reserved_bytes / MIB:,.0f}",
            percent(comparison.reserved),
            f"{len(python.trace):,}",
            f"{len(ours.trace):,}",
            "none" if comparison.first_other is None else f"{comparison.first_other:,}",
        ]
        print(f"| {' | '.join(cells)} |")


def percent(share: float) -> str:
    """A difference, `0` where there is none at all."""
    if share == 0:
        return "0"
    return f"{share:+.2%}" if abs(share) >= 0.0001 else "< 0.01%"


def print_modules(comparison: Comparison) -> None:
    """The modules that hold notably more or less at one side's peak than at the other's."""
    python, ours = snapshots.peak(comparison.python.trace), snapshots.peak(comparison.ours.trace)
    theirs_by_module = snapshots.bytes_by(python.alive, names.of_python)
    ours_by_module = snapshots.bytes_by(ours.alive, names.of_ours)
    limit = MODULE_LIMIT * max(python.bytes, ours.bytes)
    rows = [
        (module, theirs_by_module[module], ours_by_module[module])
        for module in sorted(theirs_by_module | ours_by_module)
        if abs(theirs_by_module[module] - ours_by_module[module]) > limit
    ]
    if rows:
        print(f"\n{comparison.case.name}: what the peak holds, in MiB\n")
        print("| module | Python | ours |\n| --- | --: | --: |")
        for module, theirs, mine in rows:
            print(f"| `{module}` | {theirs / MIB:,.1f} | {mine / MIB:,.1f} |")


if __name__ == "__main__":
    sys.exit(main())
