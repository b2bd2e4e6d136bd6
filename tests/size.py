"""Prints how large the project is: `size.py [COMMIT]`, by default as it is checked out.

Lines include blank ones and comments. An item below `#[cfg(test)]` counts as tests, and so do the test programs, the
benches, the fuzz targets and what supports them. Modules are those of `target/dist`, in KiB, compressed by brotli.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST_ITEM = re.compile(r"^( *)#\[cfg\(test\)\]\n(?:\1#\[.*\n)*\1\S.*(?:;|,|[})])\n|^( *)#\[cfg\(test\)\]\n(?:.*\n)*?\2[})\]].*\n", re.M)
IS_TEST = re.compile(r"(^|/)(tests|benches|fuzz|tests\.rs$)")


def git(*arguments: str) -> str:
    return subprocess.check_output(["git", "-C", str(ROOT), *arguments], text=True)


def main(commit: str | None) -> None:
    listed = git("ls-tree", "-r", "--name-only", commit) if commit else git("ls-files")
    names = listed.splitlines()

    def text(name: str) -> str:
        return git("show", f"{commit}:{name}") if commit else (ROOT / name).read_text()

    product = tests = 0
    rust = [name for name in names if name.endswith(".rs")]
    for name in rust:
        whole = text(name)
        own = 0 if IS_TEST.search(name) else TEST_ITEM.sub("", whole).count("\n")
        product += own
        tests += whole.count("\n") - own
    rows = [("Rust without tests", product), ("tests", tests), ("Rust files", len(rust))]
    rows += [(name, text(name).count("\n")) for name in ("README.md", "ARCHITECTURE.md", "dev")]
    modules = [] if commit else sorted(ROOT.glob("target/dist/assets/*/*.wasm.br"))
    rows += [(module.name, round(module.stat().st_size / 1024)) for module in modules]
    for name, count in rows:
        print(f"{name:<20}{count:>10,}")


if __name__ == "__main__":
    main(*sys.argv[1:2] or [None])
