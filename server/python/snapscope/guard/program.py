"""Asks the program `snapscope`: it runs tests on the virtual GPU, and judges their snapshots."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from typing import Any, Iterable

from ..binary import binary
from .limits import Limits

NO_PROGRAM = (
    "the program snapscope is not on the PATH, so GPU memory cannot be judged: install the wheel, or name the program "
    "in SNAPSCOPE_PROGRAM"
)
# Findings about the limits of the mark.
_LIMITS = ("peak-above-limit", "reserved-above-limit", "growth-above-limit")
_MOST_OTHERS = 3
_MOST_FRAMES = 2


class Failed(Exception):
    """The program could not do what it was asked for."""


@dataclasses.dataclass
class Judgement:
    """What `snapscope diagnose` says about the snapshots of a test."""

    # One sentence for each GPU.
    headlines: list[str]
    # Findings about exceeded limits, and the others that matter, in words.
    exceeded: list[str]
    others: list[str]

    def text(self) -> str:
        return "\n\n".join([*self.exceeded, *self.others, *self.headlines])


def ask(arguments: Iterable[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs the program to its end."""
    path = binary()
    if path is None:
        raise Failed(NO_PROGRAM)
    try:
        return subprocess.run(
            [path, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", **options
        )
    except OSError as error:
        raise Failed(f"{path} cannot be run: {error}") from error


def judge(snapshots: Iterable[str], limits: Limits) -> Judgement:
    """Compares snapshots with the limits."""
    ran = ask(["diagnose", "--json", *limits.options(), "--", *snapshots])
    document = _document(ran)
    findings = document["findings"]
    exceeded = [finding for finding in findings if finding["code"] in _LIMITS]
    others = [finding for finding in findings if finding not in exceeded and finding["severity"] != "info"]
    return Judgement(
        headlines=[run["headline"] for run in document["runs"]],
        exceeded=[_words(finding) for finding in exceeded],
        others=[_words(finding) for finding in others[:_MOST_OTHERS]],
    )


def run_document(ran: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """Returns the entries that `snapscope run --json` printed."""
    runs: list[dict[str, Any]] = _document(ran)["runs"]
    return runs


def _document(ran: subprocess.CompletedProcess[str]) -> Any:
    try:
        return json.loads(ran.stdout)
    except ValueError:
        raise Failed(ran.stderr.strip() or f"{ran.args[0]} ended with status {ran.returncode}") from None


def _words(finding: dict[str, Any]) -> str:
    """Returns a finding in words: its title, what shows it, where, and what to do."""
    lines = [finding["title"]]
    lines += [part["title"] for part in finding["parts"]]
    lines += [f"{number}. {step['text']}" for number, step in enumerate(finding["steps"], 1)]
    lines += [text for text in (finding["why"], finding["evidence"]["shows"]) if text]
    if not finding["parts"]:
        frames = (finding["evidence"]["stacks"] or [[]])[0]
        own = [frame for frame in frames if "/site-packages/" not in frame["filename"]]
        lines += [f"{frame['name']} ({frame['filename']}:{frame['line']})" for frame in own[:_MOST_FRAMES]]
    return "\n  ".join(lines)
