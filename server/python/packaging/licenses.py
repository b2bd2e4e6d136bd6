"""Prints the license texts of all packages in the programs and the pages: licenses.py > FILE."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

#: Packages of this project whose dependencies are delivered.
PROGRAMS = ["snapscope-server", "snapscope-recorder", "snapscope-virtual-gpu", "snapscope-audit"]
PAGES = ["snapscope-home", "snapscope-viewer", "snapscope-engine", "snapscope-log", "snapscope-jobs"]
TARGETS = [("x86_64-unknown-linux-gnu", PROGRAMS), ("wasm32-unknown-unknown", PAGES)]

#: What stands in place of a text.
NONE = """These packages have no texts of their own. That of MIT is the one in LICENSE-MIT, with their authors as copyright
holders; that of Apache-2.0 is the one in LICENSE-APACHE.
"""

#: Names of files with licenses and notices.
TEXTS = re.compile(r"^(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)


def main() -> None:
    """Prints each text once, below the packages that it belongs to."""
    packages: dict[str, dict] = {}
    for target, roots in TARGETS:
        packages.update(delivered(target, roots))
    by_text: dict[str, list[str]] = {}
    for package in sorted(packages.values(), key=lambda package: (package["name"], package["version"])):
        name = f"{package['name']} {package['version']} ({package['license'] or 'see below'})"
        for text in texts(package):
            by_text.setdefault(text, []).append(name)
        if not texts(package):
            by_text.setdefault(NONE, []).append(", ".join([name, *package["authors"]]))
    print("Snapscope contains parts of these packages, whose licenses follow.\n")
    for text, names in by_text.items():
        print("=" * 100, *names, "-" * 100, text, sep="\n")


def delivered(target: str, roots: list[str]) -> dict[str, dict]:
    """Returns the packages that programs are linked from, by their ids, without those of this project."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    listed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    packages = {package["id"]: package for package in listed["packages"]}
    nodes = {node["id"]: node for node in listed["resolve"]["nodes"]}
    ahead = [package["id"] for package in listed["packages"] if package["name"] in roots]
    if len(ahead) != len(roots):
        sys.exit(f"error: not all of {', '.join(roots)} are packages of this project")
    seen = set(ahead)
    while ahead:
        for dependency in nodes[ahead.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if is_linked and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                ahead.append(dependency["pkg"])
    return {id: packages[id] for id in seen if packages[id]["source"] is not None}


def texts(package: dict) -> list[str]:
    """Returns the texts in a package's folder."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.is_file() and TEXTS.match(path.name))
    return [file.read_text(encoding="utf-8", errors="replace") for file in files]


if __name__ == "__main__":
    main()
