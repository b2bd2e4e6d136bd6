"""Runs programs on PyTorch's wheels, as pip installs them, with the virtual GPU: wheels.py [VERSION…]

Each version gets a Python environment under `--environments`, with NVIDIA's packages (3 GB to download); `--remove`
removes it afterwards, and `--bare` leaves NVIDIA's packages out, which PyTorch does not need here.
The table says for each version which programs ran.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from environments import environment  # noqa: E402

LIBRARIES = HERE.parents[1] / "target" / "virtual-gpu"

# The first and the last version of each pair of CUDA's and cuDNN's versions.
VERSIONS = ["2.6.0", "2.7.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"]

# Programs after `train.py`, with the variables and arguments of each.
PROGRAMS: list[tuple[str, dict[str, str], list[str]]] = [
    ("graph", {}, []),
    ("profiler", {}, []),
    ("compile", {}, []),
    ("ranks", {"SNAPSCOPE_VIRTUAL_GPU": "2x h100-80gb", "SNAPSCOPE_VIRTUAL_GPU_VALUES": "shadow"},
     ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]),
    ("memory", {"SNAPSCOPE_VIRTUAL_GPU": "t4-16gb"}, []),
]  # fmt: skip


def wanted(folder: Path, torch: str, is_bare: bool) -> Iterator[list[str]]:
    """This version of PyTorch and what it requires; without NVIDIA's packages, if it is to be bare."""
    wanted = [f"torch=={torch}", "numpy", "setuptools<82"]
    if is_bare:
        yield ["--no-deps", wanted[0]]
        wanted[:1] = required(folder)
    yield wanted


def required(folder: Path) -> list[str]:
    """What the installed PyTorch requires, but for NVIDIA's packages."""
    metadata = next(folder.glob("lib/python*/site-packages/torch-*.dist-info/METADATA")).read_text()
    requirements = [
        line.removeprefix("Requires-Dist: ") for line in metadata.splitlines() if line.startswith("Requires-Dist: ")
    ]
    return [each for each in requirements if not re.match(r"nvidia-|cuda-", each) and "extra ==" not in each]


def run(python: Path, program: str, variables: dict[str, str], arguments: list[str], unsupported: Path) -> str | None:
    """Runs a program and returns what it printed, or None if it failed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTORCH_", "CUDA_", "LD_"))}
    with tempfile.TemporaryDirectory() as cache:
        environment = kept | {
            "LD_AUDIT": str(LIBRARIES / "libsnapscope_audit.so"),
            "TRITON_LIBCUDA_PATH": str(LIBRARIES),
            "TRITON_CACHE_DIR": cache,
            "TORCHINDUCTOR_CACHE_DIR": cache,
            "SNAPSCOPE_VIRTUAL_GPU": "h100-80gb",
            "SNAPSCOPE_VIRTUAL_GPU_UNSUPPORTED": str(unsupported),
            **variables,
        }
        command = [str(python), *arguments, str(HERE / "programs" / f"{program}.py")]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    if result.returncode:
        print(f"{program}: " + "\n".join((result.stdout + result.stderr).splitlines()[-6:]), file=sys.stderr)
        return None
    return result.stdout


def row(torch: str, python: Path) -> tuple[str, bool]:
    """Row of the table, and whether all programs ran."""
    with tempfile.TemporaryDirectory() as folder:
        calls = Path(folder) / "calls"
        printed = run(python, "train", {}, [], calls)
        found = json.loads(printed.splitlines()[-1]) if printed else {}
        others = [run(python, *program, calls) is not None for program in PROGRAMS]
        rows = calls.read_text().splitlines() if calls.exists() else []
        gaps = sorted({json.loads(line)["function"] for line in rows})
    versions = [found.get("torch", torch), found.get("cuDNN", ""), found.get("NCCL", "")]
    figures = [f"{found['events']:,}", f"{found['peak']:,}"] if found else ["did not run", ""]
    cells = [*map(str, versions), *figures, *("yes" if ran else "no" for ran in others), " ".join(gaps) or "none"]
    return f"| {' | '.join(cells)} |", bool(found) and all(others)


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION", default=VERSIONS)
    parser.add_argument("--environments", type=Path, required=True)
    parser.add_argument("--remove", action="store_true")
    parser.add_argument("--bare", action="store_true")
    options = parser.parse_args()
    heads = [
        "torch",
        "cuDNN",
        "NCCL",
        "events",
        "peak allocated",
        *(name for name, _, _ in PROGRAMS),
        "calls that failed by name",
    ]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    complete = True
    for version in options.versions:
        folder = options.environments / f"wheels-{version}"
        line, is_whole = row(version, environment(folder, wanted(folder, version, options.bare)))
        print(line, flush=True)
        complete &= is_whole
        if options.remove:
            shutil.rmtree(folder)
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
