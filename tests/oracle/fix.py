#!/usr/bin/env python3
"""Pastes what `snapscope fix` prints into scripts, and checks that a plain run then has the same peak to the byte.

Usage: fix.py SNAPSCOPE PYTHON [SCRIPT…]   (PYTHON has torch, and what the scripts import)

Each remedy of each script of tests/scripts/fix/ is pasted, then the smallest set on a card that is too small.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPTS = Path(__file__).parent.parent / "scripts" / "fix"
CARD = "custom:{}MiB:8.6"


def document(program, *arguments):
    """Returns the document that a command of Snapscope prints; its exit status may be that of memory running out."""
    ran = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if not ran.stdout:
        raise SystemExit(f"{' '.join(map(str, arguments))}\n{ran.stderr}")
    return json.loads(ran.stdout)


def pasted(script, lines, folder):
    """Writes a copy of a script with lines added where their comments say, and returns the command's words for it."""
    text = script.read_text().split("\n")
    edits, command, current = [], None, None
    for line in lines:
        place = re.match(r"# (\S+), (before|after|instead of) lines? (\d+)(?: to (\d+))?:$", line)
        if place:
            current = []
            edits.append((place[2], int(place[3]), int(place[4] or place[3]), current))
        elif line == "# the command:":
            current = command = []
        else:
            current.append(line)
    # From the last line to the first; what goes after a line before what replaces it.
    order = {"after": 0, "instead of": 1, "before": 2}
    for where, first, last, new in sorted(edits, key=lambda edit: (-edit[1], order[edit[0]])):
        start, end = {"before": (first - 1, first - 1), "after": (last, last)}.get(where, (first - 1, last))
        text[start:end] = new
    copy = folder / script.name
    copy.write_text("\n".join(text))
    words = command[0].split() if command else []
    variables = [word for word in words[:1] if "=" in word]
    arguments = words[words.index(str(script)) + 1 :] if command else []
    return ["env", *variables], copy, arguments


def run(program, python, card, steps, script, lines, folder):
    """Runs the script with its lines as a user would, and returns its report."""
    variables, copy, arguments = pasted(script, lines, folder)
    output = folder / "plain.pickle"
    words = ["run", "--json", "--card", card, "--steps", steps, "-o", output, "--", *variables, python, copy, *arguments]
    return document(program, *words)["runs"][0]


def check(program, python, script):
    """Compares each remedy of a script, and the smallest set on a card that is too small; returns the differences."""
    bad = 0

    def compare(card, one, told, what):
        nonlocal bad
        plain = run(program, python, card, report["steps"] or 1, script, one["lines"], folder)
        found = tuple(plain[key] for key in told)
        bad += found != tuple(told.values())
        is_equal = "equal" if found == tuple(told.values()) else "DIFFERS"
        print(f"  {is_equal}  {what}: {tuple(told.values())}, pasted {found} {plain['message'] or ''}", flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report = {"steps": 2}
        needs = run(program, python, CARD.format(400 << 10), 2, script, [], folder)["peak_reserved_bytes"]
        small = (needs * 7 // 10 >> 20) + 512
        report = document(program, "fix", "--json", "--card", CARD.format(small), "--", python, script)
        print(f"{script.name}: {len(report['remedies'])} remedies", flush=True)
        for one in report["remedies"]:
            told = {key: one[key] for key in ("peak_live_bytes", "peak_reserved_bytes")}
            compare(CARD.format(small * 8), one, told, one["name"])
        for left in report["left_out"]:
            print(f"  without {left['name']}: {left['reason']}")
        if together := report["together"]:
            status = "fits" if report["smallest_set"] else "out-of-memory"
            compare(CARD.format(small), together, {"status": status}, f"{together['name']} on {small} MiB")
    return bad


def main():
    program, python, *scripts = sys.argv[1:]
    scripts = [Path(script).absolute() for script in scripts] or sorted(SCRIPTS.glob("*.py"))
    sys.exit(min(sum(check(program, python, script) for script in scripts), 1))


if __name__ == "__main__":
    main()
