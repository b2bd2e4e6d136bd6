"""Lists the names of CUDA's functions that wheels of PyTorch import: names.py LIBRARY WHEEL…

A wheel of PyTorch (or a folder in which one is unpacked) updates its version in `torch.txt`: what it imports, what it
looks up at run time, and the libraries and version nodes that it needs.
Wheels of NVIDIA (or folders in which they are unpacked) update `failing.txt`: functions of their libraries that the
virtual GPU does not model. Those are exported all the same, and fail by name.
LIBRARY is the built virtual GPU; names of a version of PyTorch that it does not export are printed, and the exit status
is 1.
"""

import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import elf
from rows import Failing, Wanted

FOLDER = Path(__file__).parent

# Names of CUDA's functions; `cungqr_` is LAPACK's.
CUDAS = re.compile(r"(cu[A-Z]|cu(da|blas|dnn|sparse|solver|rand|fft|pti|File)|__cuda|nccl|nvml|nvrtc|nvshmem)\w+$")
LIBRARIES = re.compile(r"lib(cu[a-zA-Z]+|nccl|nvrtc|nvidia-ml|nvshmem_host)\.so\.\d+$")

# Functions of the driver and of NVML, which PyTorch looks up by name.
DRIVERS = (
    "Ctx|DevResource|DevSm|Device|DriverGet|Event|Func|Get[A-Z]|GreenCtx|Init|Kernel|Launch|Library|Link|Logs|Mem|Module|"
    "Multicast|Occupancy|Pointer|Stream|TensorMap"
)
MENTIONED = re.compile(rf"cu(?:{DRIVERS})\w*[a-z]\w*|cuInit|nvml[A-Z]\w{{4,}}".encode())
LOOK_UP = ("libc10_cuda.so", "libtorch_cuda.so", "libtorch_cpu.so", "libcaffe2_nvrtc.so", "libtorch_cuda_linalg.so")

# Libraries of NVIDIA that the virtual GPU stands in for, by the beginning of their names.
STOOD_IN = re.compile(
    r"lib(cublas|cublasLt|cudart|cudnn(_\w+)?|cufft|cufile|cupti|curand|cusolver|cusparse|cusparseLt|nccl|nvrtc)\.so\.\d+$"
)
# Functions of their interfaces, which return a status. NVSHMEM's mostly return values, so that none of them could fail.
OWN = re.compile(r"(cublas|cudnn|cuda|__cuda|cufft|cuFile|cupti|curand|cusolver|cusparse|nccl|nvrtc)[A-Z]\w*$")
# Functions that return a text.
TEXTS = re.compile(r"\w+Get(Status|Error)(Name|String)$")


def libraries(source: Path) -> Iterator[Path]:
    """Files of a wheel or a folder that may be libraries."""
    if source.is_dir():
        yield from (path for path in sorted(source.rglob("*.so*")) if path.is_file() and not path.is_symlink())
        return
    with zipfile.ZipFile(source) as archive:
        for name in sorted(archive.namelist()):
            if ".so" in Path(name).name:
                with tempfile.TemporaryDirectory() as folder:
                    yield Path(archive.extract(name, folder))


def version_of_torch(source: Path) -> str | None:
    """Version of PyTorch in a wheel or a folder, without what it was built for; None if there is none."""
    if source.is_dir():
        found = [path.read_text() for path in source.rglob("torch/version.py")][:1]
    else:
        with zipfile.ZipFile(source) as archive:
            found = [archive.read("torch/version.py").decode()] if "torch/version.py" in archive.namelist() else []
    match = re.search(r"__version__ = '([\d.]+)", found[0]) if found else None
    return match and match.group(1)


def wanted_by(source: Path) -> dict[str, set[str]]:
    """What the libraries of PyTorch want, by kind: functions, names looked up, libraries, version nodes."""
    wanted: dict[str, set[str]] = {"import": set(), "look-up": set(), "library": set(), "node": set()}
    for path in libraries(source):
        if path.parent.name != "lib" or path.parent.parent.name != "torch" or path.suffix != ".so":
            continue
        library = elf.read(path, MENTIONED if path.name in LOOK_UP else None)
        names = {name: node for name, node in library.imported.items() if CUDAS.match(name)}
        wanted["import"].update(names)
        wanted["node"].update(node for node in names.values() if node)
        wanted["library"].update(name for name in library.needed if LIBRARIES.match(name))
        wanted["look-up"].update(name for name in library.mentioned if len(name) < 50)
    wanted["look-up"] -= wanted["import"]
    return wanted


def headers(source: Path) -> Iterator[str]:
    """Texts of the driver's header in a wheel or a folder; the driver itself is in no wheel."""
    if source.is_dir():
        yield from (path.read_text() for path in sorted(source.rglob("include/cuda.h")))
        return
    with zipfile.ZipFile(source) as archive:
        yield from (archive.read(name).decode() for name in archive.namelist() if name.endswith("include/cuda.h"))


def drivers_functions(header: str) -> set[str]:
    """Functions that a header of the driver declares, under the names that programs import."""
    declared = re.findall(r"^CUresult CUDAAPI\s+(cu[A-Z]\w+)\s*\(", header, re.MULTILINE)
    renamed = re.findall(r"^\s*#\s*define cu[A-Z]\w+\s+(?:__CUDA_API_\w+\()?(cu[A-Z]\w+)", header, re.MULTILINE)
    return {*declared, *(name for name in renamed if re.search(r"_v\d+$", name))}


def offered_by(source: Path) -> dict[str, str]:
    """Functions that NVIDIA's libraries export, with the library's name."""
    offered = {name: "cuda" for header in headers(source) for name in drivers_functions(header)}
    for path in libraries(source):
        if STOOD_IN.match(path.name):
            library = re.sub(r"(_\w+)?\.so.*", "", path.name.removeprefix("lib"))
            names = (name for name in elf.read(path).exported if OWN.match(name) and not TEXTS.match(name))
            offered.update((name, library) for name in names)
    return offered


def is_version_of(modelled: set[str], name: str) -> bool:
    """Whether a function is another version of one that is modelled: a program that asks the driver for it gets that."""
    return name.startswith("cu") and not name.startswith("cuda") and re.sub(r"_v\d+$", "", name) in modelled - {name}


def report(version: str, wanted: dict[str, set[str]], exported: set[str]) -> bool:
    """Prints what a version of PyTorch wants and what is lacking; returns whether it is complete."""
    lacking = sorted(wanted["import"] - exported)
    print(f"torch {version}: {len(wanted['import'])} functions of {len(wanted['library'])} libraries, "
          f"{len(lacking)} lacking{': ' if lacking else ''}{' '.join(lacking)}")  # fmt: skip
    return not lacking


def main(library: str, *sources: str) -> int:
    """Updates the lists."""
    exported = set(elf.read(Path(library)).exported)
    torch, failing = Wanted(FOLDER / "torch.txt"), Failing(FOLDER / "failing.txt")
    modelled = exported - failing.libraries.keys()
    complete = True
    for source in map(Path, sources):
        if version := version_of_torch(source):
            wanted = wanted_by(source)
            torch.set_version(version, wanted)
            complete &= report(version, wanted, exported)
        if offered := offered_by(source):
            print(f"{source.name}: {len(offered)} functions, {len(offered.keys() - modelled)} of them fail by name")
            failing.add(offered)
    failing.remove(modelled | {name for name in failing.libraries if is_version_of(modelled, name)})
    torch.write()
    failing.write()
    return 0 if complete else 1


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
