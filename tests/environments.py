"""Puts packages of Python into the cache, each set of them once: environments.py CACHE NAME prints its folder.

NAME is a row of `TOOLS`. Another list of packages is another folder.
"""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIP = ["-m", "pip", "install", "--quiet", "--no-cache-dir", "--disable-pip-version-check"]

PYTEST = ROOT / "tests/python/pytest.txt"
ORACLE = ROOT / "tests/oracle/requirements.txt"


def environment(folder: Path, installs: Iterable[list[str]]) -> Path:
    """Returns the Python of an environment; where it is missing, pip installs one list of arguments after the other."""
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        print(f"python: creating {folder}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        for arguments in installs:
            subprocess.run([python, *PIP, *arguments], check=True)
        (folder / "ready").touch()
    return python


def packages(folder: Path, arguments: list[str], part: str = ".", python: Path | str = sys.executable) -> Path:
    """Returns a folder, which appears only when pip has installed packages into that part of it."""
    if not folder.exists():
        print(f"python: downloading {folder}", file=sys.stderr, flush=True)
        new = folder.with_name(f"{folder.name}.new")
        shutil.rmtree(new, ignore_errors=True)
        subprocess.run([python, *PIP, "--no-deps", "--target", new / part, *arguments], check=True)
        new.rename(folder)
    return folder


def named(cache: Path, name: str, requirements: Path) -> Path:
    """Returns the folder for what a list of packages says."""
    return cache / f"{name}-{hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]}"


# What `./dev` needs: Python's tool for wheels of programs, pytest for the tests of the plugin, and what recordings are
# compared with, without NVIDIA's packages.
TOOLS = {
    "maturin": lambda cache: packages(cache / "maturin-1.16.0", ["maturin==1.16.0"]),
    "pytest": lambda cache: packages(
        named(cache, "pytest", PYTEST), ["--require-hashes", "--requirement", str(PYTEST)], "site-packages"
    ),
    "oracle": lambda cache: environment(
        named(cache, "oracle", ORACLE), [["--no-deps", "--requirement", str(ORACLE)]]
    ).parents[1],
}

if __name__ == "__main__":
    print(TOOLS[sys.argv[2]](Path(sys.argv[1]).absolute()))
