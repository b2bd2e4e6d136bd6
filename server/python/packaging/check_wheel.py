"""Checks a wheel of Snapscope and prints its size with its parts: check_wheel.py WHEEL [LIMIT_MB].

The platform in the wheel's name must be true of every program and library in it, of which maturin looks at one alone.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

#: Newest symbol versions that each platform has besides those of glibc, by the version of its glibc (PEP 600).
OTHERS = {
    (2, 28): {"GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11)},
    (2, 31): {"GLIBCXX": (3, 4, 28), "CXXABI": (1, 3, 12)},
    (2, 34): {"GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)},
    (2, 35): {"GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13)},
    (2, 38): {"GLIBCXX": (3, 4, 32), "CXXABI": (1, 3, 14)},
    (2, 39): {"GLIBCXX": (3, 4, 33), "CXXABI": (1, 3, 15)},
}

#: Parts of a wheel by the beginning of a path below `snapscope-VERSION`.
PARTS = [
    ("program with pages", r"\.data/scripts/snapscope"),
    ("recorder", r"\.data/platlib/snapscope/libraries/snapscope-recorder"),
    ("virtual GPU", r"\.data/platlib/snapscope/libraries/virtual-gpu/"),
    ("licenses of packages", r"\.data/platlib/snapscope/libraries/"),
    ("metadata", r"\.dist-info/"),
]

Version = tuple[int, ...]


def main() -> None:
    """Checks the wheel that the command line names."""
    path = Path(sys.argv[1])
    limit = float(sys.argv[2]) if len(sys.argv) > 2 else None
    with zipfile.ZipFile(path) as wheel:
        check_record(wheel)
        check_platform(wheel, platform_of(path))
        print_parts(path, wheel)
    size = path.stat().st_size / 1e6
    if limit is not None and size > limit:
        fail(f"{path.name} has {size:.1f} MB, more than {limit:g} MB")


def check_record(wheel: zipfile.ZipFile) -> None:
    """Checks that RECORD lists every file with its hash."""
    (record,) = [name for name in wheel.namelist() if name.endswith(".dist-info/RECORD")]
    rows = {row[0]: row[1:] for row in csv.reader(wheel.read(record).decode().splitlines())}
    missing = set(wheel.namelist()) ^ set(rows)
    if missing:
        fail(f"RECORD and the files differ: {', '.join(sorted(missing))}")
    for name, (stated, size) in rows.items():
        if name == record:
            continue
        content = wheel.read(name)
        found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        if stated != f"sha256={found}" or int(size) != len(content):
            fail(f"RECORD is wrong about {name}")


def platform_of(path: Path) -> Version:
    """Returns the version of glibc in a wheel's name."""
    tag = re.search(r"-py3-none-manylinux_(\d+)_(\d+)_x86_64[.\w]*\.whl$", path.name)
    if tag is None:
        fail(f"{path.name} is not named for a version of glibc")
    return int(tag[1]), int(tag[2])


def check_platform(wheel: zipfile.ZipFile, glibc: Version) -> None:
    """Checks that each program and library needs no newer system than the name says."""
    known = [others for version, others in sorted(OTHERS.items()) if version <= glibc]
    newest = {"GLIBC": glibc, **(known[-1] if known else {})}
    for name in wheel.namelist():
        content = wheel.read(name)
        if not content.startswith(b"\x7fELF"):
            continue
        for library, version in sorted(needed(content)):
            if version > newest.get(library, version):
                needs = f"{library}_{'.'.join(map(str, version))}"
                fail(f"{name} needs {needs}, which glibc {'.'.join(map(str, glibc))} of the wheel's name does not have")


def needed(content: bytes) -> set[tuple[str, Version]]:
    """Returns the versions of symbols that a program or library needs from the system."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        command = ["readelf", "--version-info", "--wide", file.name]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"Name: (GLIBC|GLIBCXX|CXXABI)_([\d.]+) ", listed)
    return {(library, tuple(map(int, version.split(".")))) for library, version in found}


def print_parts(path: Path, wheel: zipfile.ZipFile) -> None:
    """Prints the compressed and the installed size of the wheel and its parts."""
    sizes: dict[str, list[int]] = {}
    for info in wheel.infolist():
        part = next((part for part, start in PARTS if re.match(rf"snapscope-[^-/]+{start}", info.filename)), "Python")
        size = sizes.setdefault(part, [0, 0])
        size[0] += info.compress_size
        size[1] += info.file_size
    installed = sum(size for _, size in sizes.values())
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, {installed / 1e6:.1f} MB installed")
    for part, (compressed, size) in sorted(sizes.items(), key=lambda item: -item[1][0]):
        print(f"  {compressed / 1e6:5.2f} MB, {size / 1e6:5.2f} MB installed: {part}")


def fail(message: str) -> None:
    """Ends the program with a message."""
    sys.exit(f"error: {message}")


if __name__ == "__main__":
    main()
