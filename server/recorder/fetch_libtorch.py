"""Fetches libtorch and the headers of CUDA's runtime into a cache: fetch_libtorch.py CACHE TARGET

The wheels of libtorch.txt are downloaded, checked against their hashes, and unpacked but for what only Python needs.
The headers get a folder of their own: libraries of NVIDIA beside libtorch would win over those of the virtual GPU.
What is there and whole is left alone; what is not appears in one step, when it is. TARGET gets links to both.
"""

import fcntl
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("libtorch.txt")
PLATFORMS = ["manylinux_2_28_x86_64", "manylinux2014_x86_64", "manylinux_2_17_x86_64"]

# Each folder: the files that show that it is whole, the wheels it is made of, and what of them is taken.
LIBTORCH = (
    ["torch/lib/libtorch_cuda.so", "torch/include/torch/csrc/cuda/memory_snapshot.h", "torch/version.py"],
    ["torch-"],
    ["torch/lib/", "torch/include/", "torch/version.py", "torch-2.11.0.dist-info/licenses/"],
)
HEADERS = (
    ["nvidia/cu13/include/cuda_runtime_api.h", "nvidia/cu13/include/crt/host_defines.h"],
    ["nvidia_cuda_runtime-", "nvidia_cuda_crt-"],
    ["nvidia/cu13/include/"],
)
FOLDERS = {"libtorch-2.11.0": LIBTORCH, "cuda-headers-13.0": HEADERS}
LINKS = {"libtorch": "libtorch-2.11.0/torch", "cuda-headers": "cuda-headers-13.0/nvidia/cu13/include"}


def download(folder: Path) -> None:
    """Downloads the wheels; pip refuses one whose hash is another."""
    platforms = [argument for name in PLATFORMS for argument in ("--platform", name)]
    what = ["--no-deps", "--only-binary=:all:", "--python-version", "3.12", *platforms]
    how = ["--quiet", "--no-cache-dir", "--disable-pip-version-check", "--require-hashes", "--dest", str(folder)]
    command = [sys.executable, "-m", "pip", "download", *how, *what, "--requirement", str(REQUIREMENTS)]
    status = subprocess.run(command).returncode
    if status:
        raise OSError(f"pip ended with status {status}")


def unpack(wheels: Path, folder: Path, prefixes: list[str], wanted: list[str]) -> None:
    """Unpacks the wanted files of the wheels whose names start so."""
    for wheel in sorted(wheels.iterdir()):
        if wheel.name.startswith(tuple(prefixes)):
            with zipfile.ZipFile(wheel) as archive:
                names = [name for name in archive.namelist() if name.startswith(tuple(wanted))]
                archive.extractall(folder, names)


def is_whole(folder: Path, signs: list[str]) -> bool:
    """Whether all the files that show it are there."""
    return all((folder / sign).is_file() for sign in signs)


def fetch(cache: Path) -> None:
    """Makes the folders that are missing or broken."""
    missing = {name: parts for name, parts in FOLDERS.items() if not is_whole(cache / name, parts[0])}
    if not missing:
        return
    print(f"libtorch: downloading 530 MB to {cache}", flush=True)
    # On the file system of the cache, so that a folder can be moved to its place in one step.
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache) as scratch:
        wheels = Path(scratch, "wheels")
        download(wheels)
        for name, (_, prefixes, wanted) in missing.items():
            unpack(wheels, Path(scratch, name), prefixes, wanted)
            shutil.rmtree(cache / name, ignore_errors=True)
            Path(scratch, name).rename(cache / name)


def main() -> None:
    """Fetches into the cache of the command line, one process at a time, and lays links."""
    cache, target = map(Path, sys.argv[1:])
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for abandoned in cache.glob(".fetch-*"):
            shutil.rmtree(abandoned)
        try:
            fetch(cache)
        except (OSError, zipfile.BadZipFile) as error:
            sys.exit(f"error: libtorch was not fetched: {error}\n hint: check the network and the free disk space")
    target.mkdir(exist_ok=True)
    for name, folder in LINKS.items():
        (target / name).unlink(missing_ok=True)
        (target / name).symlink_to(cache.absolute() / folder)


if __name__ == "__main__":
    main()
