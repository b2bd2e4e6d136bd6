"""Builds what a release consists of, and tries each part as somebody who installs it: release.py [tarballs].

`target/dist`, `target/sbom` and, for more than the tarballs, the wheel in `target/wheels` must be there. Variables:
SNAPSCOPE_RELEASES is the address from which people will download, for the recipes, and SNAPSCOPE_SIGNING_KEY the SSH key
that signs the list of what was built.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[3]
TARGET = ROOT / "target"
RECIPES = Path(__file__).parent / "recipes"

#: Static programs by the name of their tarball: Rust's target, its variables, and what runs it on this machine.
PROGRAMS = {
    "x86_64-linux": ("x86_64-unknown-linux-musl", {"CC": "musl-gcc"}, []),
    "aarch64-linux": (
        "aarch64-unknown-linux-musl",
        # The compiler is made for glibc, whose checked functions musl lacks.
        {"CC": "aarch64-linux-gnu-gcc", "CFLAGS": "-U_FORTIFY_SOURCE", "LINKER": "rust-lld"},
        ["qemu-aarch64"],
    ),
}

#: Platforms of the wheel with the static program for aarch64.
AARCH64 = "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"


def main() -> None:
    """Builds the tarballs, and unless only those are wanted everything else, with a list of all files and their hashes."""
    version = output("cargo", "pkgid", "-p", "snapscope-server").rsplit("#", 1)[1].rsplit("@", 1)[-1]
    folder = TARGET / "tarballs"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    commands = {}
    for name, (target, variables, runner) in PROGRAMS.items():
        program = built(target, variables)
        commands[name] = [*runner, program]
        try_program(commands[name])
        packed = pack(folder / f"snapscope-{name}.tar.gz", f"snapscope-{version}", parts_of(program, name))
        print(f"tarball: {packed.relative_to(ROOT)}, {packed.stat().st_size / 1e6:.1f} MB, static")
    if sys.argv[1:] != ["tarballs"]:
        release = TARGET / "releases" / version
        shutil.rmtree(release, ignore_errors=True)
        shutil.copytree(folder, release)
        (wheel,) = (TARGET / "wheels").glob("snapscope-*.whl")
        try_wheel(Path(shutil.copy(wheel, release)))
        *runner, program = commands["aarch64-linux"]
        try_other_wheel(wheel_for(AARCH64, release / wheel.name, program), runner)
        pack(release / "snapscope-pages.tar.gz", "pages", pages(commands["x86_64-linux"]))
        shutil.copytree(TARGET / "sbom", release / "sbom")
        shutil.copy(ROOT / "server/deploy/Dockerfile", release)
        fill_recipes(release, version)
        try_installer(release)
        folder = release
    sign(folder)


def built(target: str, variables: dict[str, str]) -> Path:
    """Returns the static program for one of Rust's targets, with the pages inside it."""
    environment = {**os.environ, "SNAPSCOPE_PAGES": str(TARGET / "dist")}
    suffix = target.replace("-", "_")
    for name, value in variables.items():
        environment[f"CARGO_TARGET_{suffix.upper()}_LINKER" if name == "LINKER" else f"{name}_{suffix}"] = value
    subprocess.run(["rustup", "-q", "target", "add", target], check=True)
    command = ["cargo", "build", "--locked", "--release", "--target", target, "-p", "snapscope-server"]
    subprocess.run(command, check=True, cwd=ROOT, env=environment)
    return TARGET / target / "release/snapscope"


def parts_of(program: Path, name: str) -> Iterator[tuple[Path, str]]:
    """Yields the files of a tarball with their names in it."""
    licenses = TARGET / f"licenses-{name}.txt"
    licenses.write_text(output(sys.executable, str(Path(__file__).parent / "licenses.py")))
    yield program, "snapscope"
    yield licenses, "third-party-licenses.txt"
    yield from ((ROOT / text, text) for text in ["LICENSE-MIT", "LICENSE-APACHE"])
    yield from ((packages, f"sbom/{packages.name}") for packages in sorted((TARGET / "sbom").glob("*.json")))


def pack(path: Path, top: str, parts: Iterator[tuple[Path, str]]) -> Path:
    """Writes a tarball that depends on nothing but the contents of its files."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return entry

    with tarfile.open(path, "w:gz") as tarball:
        for source, name in sorted(parts, key=lambda part: part[1]):
            tarball.add(source, f"{top}/{name}", filter=plain)
    return path


def wheel_for(platforms: str, wheel: Path, program: Path) -> Path:
    """Writes a wheel for other platforms: with a static program, without the recorder and the virtual GPU."""
    path = wheel.with_name(f"{wheel.name.rsplit('-', 1)[0]}-{platforms}.whl")
    record = ""
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(path, "w") as target:
        for entry in source.infolist():
            name, data = entry.filename, source.read(entry)
            if name.endswith((".so", "/snapscope-recorder")):
                continue
            if name.endswith("/scripts/snapscope"):
                data = program.read_bytes()
            elif name.endswith("/WHEEL"):
                tags = "".join(f"Tag: py3-none-{platform}\n" for platform in platforms.split("."))
                data = re.sub(rb"Tag: .*\n", b"", data) + tags.encode()
            elif name.endswith("/RECORD"):
                data = f"{record}{name},,\n".encode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(data)}\n"
            target.writestr(entry, data)
    return path


def pages(program: list[str | Path]) -> Iterator[tuple[Path, str]]:
    """Yields the pages for hosting as files, with the headers that the program itself sends."""
    with served(program) as address, urllib.request.urlopen(address) as page:
        sent = page.headers
    kinds = ("content-security-", "cross-origin-", "referrer-", "x-content-")
    names = [name for name in sent if name.lower().startswith(kinds)]
    headers = TARGET / "_headers"
    headers.write_text("/*\n" + "".join(f"  {name}: {sent[name]}\n" for name in names))
    yield headers, "_headers"
    dist = TARGET / "dist"
    yield from ((path, str(path.relative_to(dist))) for path in dist.rglob("*") if path.is_file())


def fill_recipes(release: Path, version: str) -> None:
    """Writes the recipes for other channels, with the addresses and hashes of what was built."""
    address = os.environ.get("SNAPSCOPE_RELEASES", f"https://example.org/snapscope/{version}")
    values = {"@VERSION@": version, "@RELEASES@": address}
    for path in release.glob("*.tar.gz"):
        values[f"@{path.name}@"] = hashlib.sha256(path.read_bytes()).hexdigest()
    for recipe in RECIPES.iterdir():
        text = recipe.read_text()
        for mark, value in values.items():
            text = text.replace(mark, value)
        (release / recipe.name).write_text(text)


def try_program(program: list[str | Path]) -> None:
    """Reads the sample with a program, in an empty folder and without variables, and has the program serve its page."""
    if not shutil.which(program[0]):
        print(f"not tried, since {program[0]} is missing: {program[-1]}")
        return
    with tempfile.TemporaryDirectory() as empty:
        command = [*program, "diagnose", ROOT / "static/sample.pickle.gz"]
        run = subprocess.run(command, cwd=empty, env={}, text=True, capture_output=True)
        if "autograd graph stays" not in run.stdout:
            raise SystemExit(f"{program[-1]} does not read the sample: {run.stdout}{run.stderr}")
    with served(program) as address, urllib.request.urlopen(address) as page:
        if b"Snapscope" not in page.read():
            raise SystemExit(f"{program[-1]} does not serve its page")


@contextmanager
def served(program: list[str | Path]) -> Iterator[str]:
    """Starts the server of a program and yields its address."""
    with tempfile.TemporaryDirectory() as data:
        command = [*program, "serve", "--listen", "127.0.0.1:0", "--data", data]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=data, env={}) as server:
            try:
                assert server.stdout is not None
                yield server.stdout.readline().split(": ", 1)[1].strip()
            finally:
                server.terminate()


def try_wheel(wheel: Path) -> None:
    """Installs a wheel into an empty environment without a network, and reads the sample with it."""
    with tempfile.TemporaryDirectory() as empty:
        subprocess.run([sys.executable, "-m", "venv", empty], check=True)
        subprocess.run([f"{empty}/bin/pip", "install", "-q", "--no-index", wheel], check=True)
        try_program([Path(empty, "bin/snapscope")])


def try_other_wheel(wheel: Path, runner: list[str]) -> None:
    """Installs a wheel for another platform into an empty folder, and reads the sample with its program."""
    platform = wheel.stem.rsplit("-", 1)[1].split(".")[0]
    with tempfile.TemporaryDirectory() as empty:
        where = ["--no-index", "--only-binary=:all:", "--platform", platform, "--target", empty]
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", *where, wheel], check=True)
        try_program([*runner, Path(empty, "bin/snapscope")])


def try_installer(release: Path) -> None:
    """Runs the script for `curl … | sh` on the folder of a release, into an empty home."""
    with tempfile.TemporaryDirectory() as home:
        variables = {"HOME": home, "PATH": os.environ["PATH"], "SNAPSCOPE_RELEASES": release.as_uri()}
        hashes(release)
        subprocess.run(["sh", release / "install.sh"], check=True, env=variables)
        try_program([Path(home, ".local/bin/snapscope")])


def hashes(folder: Path) -> Path:
    """Writes the list of all files of a folder with their hashes, as `sha256sum -c` reads it."""
    listed = folder / "SHA256SUMS"
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("SHA256SUMS"))
    rows = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n" for path in files)
    listed.write_text("".join(rows))
    return listed


def sign(folder: Path) -> None:
    """Lists all files of a folder, and signs the list if there is a key."""
    listed, key = hashes(folder), os.environ.get("SNAPSCOPE_SIGNING_KEY")
    print(listed.read_text(), end="")
    if key is None:
        print("not signed: name an SSH key in SNAPSCOPE_SIGNING_KEY")
    else:
        subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "snapscope", listed], check=True)


def output(*command: str) -> str:
    """Returns what a command prints."""
    return subprocess.run(command, check=True, cwd=ROOT, text=True, stdout=subprocess.PIPE).stdout.strip()


if __name__ == "__main__":
    main()
