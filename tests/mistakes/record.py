"""Records the scripts of this folder and of the gallery on the virtual GPU, a process each, into NAME.pickle.gz.

    ~/.cache/snapscope/oracle-…/bin/python tests/mistakes/record.py [FOLDER] [--only WORD …] [--new]

The environment is that of `./dev compare`, the virtual GPU lies in target/virtual-gpu.
FOLDER is target/mistakes unless given; `--only` takes the scripts whose name holds one of the words,
`--new` leaves out those whose recording is younger than the script.
"""

import argparse
import gzip
import json
import os
import pickle
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GALLERY = ROOT / "static" / "gallery"
sys.path.insert(0, str(ROOT / "tests" / "oracle"))
import virtual  # noqa: E402

TIMEOUT_S = 300

# Stacks hold the paths of this machine; those of a made-up one take their place, so that a recording
# can be committed and is the same wherever it is made.
PLACES = [
    (str(HERE), "/home/user/project"),
    (str(GALLERY), "/home/user/project"),
    (sysconfig.get_paths()["purelib"], "/home/user/env/lib/python3.11/site-packages"),
    (sys.prefix, "/home/user/env"),
    (sysconfig.get_paths()["stdlib"], "/usr/lib/python3.11"),
    (sys.base_prefix, "/usr"),
]

# C++ frames name the folder in which the interpreter itself was built.
INTERPRETER_SOURCES = re.compile(r"^/.*/Python-3\.[0-9.]+/(\./)?")


def moved(text: str) -> str:
    """The same path on the made-up machine."""
    text = INTERPRETER_SOURCES.sub("/usr/src/python/", text)
    for old, new in PLACES:
        if text.startswith(old):
            return new + text[len(old) :]
    return text


def move_frames(snapshot: object) -> None:
    """Changes the file names of all frames in place; a frame is shared by many events, and changed once."""
    seen: set[int] = set()
    waiting = [snapshot]
    while waiting:
        value = waiting.pop()
        if not isinstance(value, (dict, list)) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, list):
            waiting.extend(value)
        else:
            if isinstance(value.get("filename"), str):
                value["filename"] = moved(value["filename"])
            waiting.extend(value.values())


def script_of(name: str) -> Path:
    """The script of a case: the gallery has those that the page shows."""
    script = GALLERY / f"{name}.py"
    return script if script.exists() else HERE / f"{name}.py"


def record(case: dict, folder: Path) -> str | None:
    """Records one script and returns what went wrong, if anything did."""
    name = case["name"]
    environment = virtual.environment(case["card"], **case.get("settings", {}))
    environment |= {"HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1", "TOKENIZERS_PARALLELISM": "false"}
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch) / "snapshot.pickle"
        command = [sys.executable, str(script_of(name)), str(raw)]
        try:
            ran = subprocess.run(
                command, env=environment, cwd=scratch, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired:
            return f"took more than {TIMEOUT_S} s"
        if ran.returncode != 0 or not raw.exists():
            return ran.stderr[-2000:] or f"ended with {ran.returncode} and wrote no snapshot"
        with raw.open("rb") as file:
            snapshot = pickle.load(file)
    move_frames(snapshot)
    packed = gzip.compress(pickle.dumps(snapshot), 9, mtime=0)
    # Whoever watches the folder must never read half a file.
    part = folder / f".{name}.part"
    part.write_bytes(packed)
    os.replace(part, folder / f"{name}.pickle.gz")
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "target" / "mistakes")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--new", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for case in json.loads((HERE / "truth.json").read_text())["recordings"]:
        name = case["name"]
        if options.only and not any(word in name for word in options.only):
            continue
        script, made = script_of(name), options.folder / f"{name}.pickle.gz"
        if options.new and made.exists() and made.stat().st_mtime > script.stat().st_mtime:
            continue
        wrong = record(case, options.folder)
        failed += wrong is not None
        print(f"{name}: {'FAILED: ' + wrong if wrong else f'{made.stat().st_size:,} bytes'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
