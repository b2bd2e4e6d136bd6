"""Runs scripts of strangers on the virtual GPU and compares with what their own GPUs recorded: real.py FOLDER…

A FOLDER is a clone of a repository that `pairs.toml` names, or holds such clones; nothing is fetched from there.
Each script runs in the version of PyTorch that its snapshot is from, in an environment under `--environments`, which is
created with pip if it is not there. `--only TEXT` runs the pairs whose name holds a text.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from likeness import Likeness, compare, load

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from environments import environment, packages  # noqa: E402

ROOT = HERE.parents[1]
LIBRARIES = ROOT / "target" / "virtual-gpu"

# What PyTorch requires, without NVIDIA's packages, and what scripts for it are written with.
PACKAGES = ["filelock", "typing-extensions", "sympy", "networkx", "jinja2", "fsspec", "setuptools<82"]
PACKAGES += ["numpy", "einops", "einx", "jaxtyping", "pyyaml", "regex", "tqdm"]


@dataclass(frozen=True)
class Pair:
    """A script and the snapshot that it left on a real GPU."""

    repository: str
    commit: str
    """Commit of the script."""
    run: str
    """Script and arguments, from `folder`; `{out}` is where the snapshot goes."""
    snapshot: str
    torch: str
    card: str
    sure: str
    """A: arguments written down in the repository; B: file name and defaults; C: a switch found by trying."""
    folder: str = "."
    taken_from: str = ""
    """Commit of the snapshot, if it is another one."""
    writes: str = "{out}"
    path: list[str] = field(default_factory=list)
    """Folders of the repository that Python searches."""
    packages: list[str] = field(default_factory=list)
    """Packages in versions other than the newest, which the repository's lock file has."""
    replaced: list[str] = field(default_factory=list)
    """Packages that are replaced by ones that accept everything."""
    change: list[list[str]] = field(default_factory=list)
    """File, text and new text: what was changed, and why, in a comment beside it."""
    variables: dict[str, str] = field(default_factory=dict)
    vary: dict[str, list[str]] = field(default_factory=dict)
    """Values of the words in braces, in `run` and the names of files: a run for each combination."""
    each: dict[str, list[str]] = field(default_factory=dict)
    """The same for what one run leaves: a snapshot for each combination."""

    @property
    def name(self) -> str:
        """Repository and arguments."""
        return f"{self.repository} {self.run}"

    def runs(self) -> Iterator["Pair"]:
        """One pair for each run."""
        for values in combinations(self.vary):
            texts = {name: fill(getattr(self, name), values) for name in ("run", "snapshot", "writes")}
            yield replace(self, vary={}, **texts)

    def snapshots(self) -> list[tuple[str, str]]:
        """The real snapshots of a run, and the files in which the script leaves its own."""
        return [(fill(self.snapshot, values), fill(self.writes, values)) for values in combinations(self.each)]


def combinations(choices: dict[str, list[str]]) -> Iterator[dict[str, str]]:
    """Each combination of one value for each word."""
    for values in product(*choices.values()):
        yield dict(zip(choices, values))


def fill(text: str, values: dict[str, str]) -> str:
    """Replaces words in braces."""
    for word, value in values.items():
        text = text.replace(f"{{{word}}}", value)
    return text


def clones(folders: list[Path]) -> dict[str, Path]:
    """Repositories by owner and name, as far as their remotes or their folders' names say it."""
    found = {}
    for folder in folders:
        for each in [folder, *(path for path in sorted(folder.iterdir()) if path.is_dir())]:
            for git in (each, each / "repo"):
                if (git / ".git").exists() or (git / "HEAD").exists():
                    found[name_of(git, each)] = git
                    break
    return found


def name_of(git: Path, folder: Path) -> str:
    """`owner/name` from the remote's address, or else from a folder named `owner+name` or `owner__name`."""
    named = re.fullmatch(r"([^+]+?)(?:\+|__)(.+)", folder.name)
    if named:
        return f"{named[1]}/{named[2]}"
    remote = subprocess.run(["git", "-C", git, "remote", "get-url", "origin"], capture_output=True, text=True).stdout
    match = re.search(r"([^/:]+/[^/]+?)(?:\.git)?/?\s*$", remote)
    return match[1] if match else folder.name


def check_out(git: Path, commit: str, to: Path) -> None:
    """Unpacks the files of a commit; those that the clone lacks are left out."""
    listed = subprocess.run(["git", "-C", git, "ls-tree", "-r", "-z", commit], capture_output=True, check=True).stdout
    for row in listed.split(b"\0"):
        head, _, name = row.decode().partition("\t")
        if " blob " in head and not re.search(r"\.(pickle|pkl|bin|npy|png|pdf|txt|jpg|nsys-rep)$", name):
            blob = subprocess.run(["git", "-C", git, "cat-file", "blob", head.split()[2]], capture_output=True)
            if blob.returncode == 0:
                path = to / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(blob.stdout)


def record(pair: Pair, git: Path, environments: Path, work: Path) -> dict[str, Path]:
    """Runs a script and returns the snapshots that it left, by the path of the real one."""
    python = environment(environments / f"torch-{pair.torch}", [["--no-deps", f"torch=={pair.torch}"], PACKAGES])
    checkout = work / "checkout"
    check_out(git, pair.commit, checkout)
    for file, text, new in pair.change:
        path = checkout / file
        before = path.read_text()
        if text not in before:
            raise ValueError(f"{file} does not hold `{text}`")
        path.write_text(before.replace(text, new))
    out = work / "snapshot.pickle"
    arguments = pair.run.replace("{out}", str(out)).split()
    folder = checkout / pair.folder
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTORCH_", "CUDA_", "LD_"))}
    folders = [
        *([packages(environments / "_".join(pair.packages), pair.packages, python=python)] if pair.packages else []),
        *(checkout / each for each in [pair.folder, *pair.path]),
    ]
    search = os.pathsep.join(map(str, folders))
    variables = kept | {
        "LD_AUDIT": str(LIBRARIES / "libsnapscope_audit.so"),
        "SNAPSCOPE_VIRTUAL_GPU": pair.card,
        "TRITON_LIBCUDA_PATH": str(LIBRARIES),
        "PYTHONPATH": search,
        **pair.variables,
    }
    command = [str(python), str(HERE / "launch.py"), ",".join(pair.replaced), *arguments]
    result = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=900)
    written = {real: folder / own.replace("{out}", str(out)) for real, own in pair.snapshots()}
    if not all(path.exists() for path in written.values()):
        raise RuntimeError("\n".join((result.stdout + result.stderr).splitlines()[-8:]))
    return written


def real_snapshot(pair: Pair, name: str, git: Path, work: Path) -> Path:
    """Unpacks a snapshot of the real GPU."""
    path = work / "real.pickle"
    blob = f"{pair.taken_from or pair.commit}:{name}"
    with path.open("wb") as file:
        subprocess.run(["git", "-C", git, "cat-file", "blob", blob], stdout=file, check=True)
    return path


def row(pair: Pair, name: str, likeness: Likeness, seconds: float) -> str:
    """A row of the table."""
    if likeness.prefix == likeness.events:
        events = "all"
    else:
        events = "all, frees of a moment in another order" if likeness.unordered else f"{likeness.prefix:,}"
    written = " | ".join(
        f"{real:,}" if real == virtual else f"{real:,} {virtual - real:+,}"
        for real, virtual in (likeness.peak, likeness.reserved)
    )
    what = f"`{pair.repository}` {Path(name).stem}"
    cells = [what, pair.torch, pair.card, f"{likeness.events:,}", events, written, pair.sure, f"{seconds:.0f} s"]
    return f"| {' | '.join(cells)} |"


def outcome(pair: Pair, git: Path, environments: Path) -> list[Likeness | None]:
    """Runs a pair and prints a row for each snapshot; None stands for one whose script did not run."""
    begin, rows = time.monotonic(), []
    with tempfile.TemporaryDirectory() as work:
        try:
            for name, own in record(pair, git, environments, Path(work)).items():
                rows.append(compare(load(real_snapshot(pair, name, git, Path(work))), load(own)))
                print(row(pair, name, rows[-1], time.monotonic() - begin), flush=True)
        except (RuntimeError, ValueError, subprocess.SubprocessError) as error:
            what = f"`{pair.repository}` {Path(pair.snapshot).stem}"
            print(f"| {what} | {pair.torch} | {pair.card} | did not run | | | | |", flush=True)
            print(f"{pair.name}: {error}", file=sys.stderr)
            rows.append(None)
    return rows


def main() -> int:
    """Runs all pairs whose repository is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--environments", type=Path, required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    pairs = [Pair(**entry) for entry in tomllib.loads((HERE / "pairs.toml").read_text())["pair"]]
    found = clones(options.folders)
    chosen = [run for pair in pairs if pair.repository in found for run in pair.runs() if options.only in run.name]
    print("| snapshot | torch | card | events | equal | peak allocated | reserved | sure | time |")
    print("|---|---|---|---|---|---|---|---|---|")
    all_rows = [likeness for pair in chosen for likeness in outcome(pair, found[pair.repository], options.environments)]
    equal = sum(likeness is not None and likeness.is_equal for likeness in all_rows)
    failed = sum(likeness is None for likeness in all_rows)
    print(f"\n{equal} of {len(all_rows)} snapshots are equal in all events; for {failed} the script did not run.")
    missing = sorted({pair.repository for pair in pairs} - found.keys())
    if missing:
        print(f"Not among the folders: {', '.join(missing)}.")
    return 0 if equal == len(all_rows) else 1


if __name__ == "__main__":
    sys.exit(main())
