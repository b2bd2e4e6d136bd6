"""Adds what became of a test's GPU memory to its report."""

from __future__ import annotations

import hashlib
import os
import re
from typing import Any

from . import program
from .limits import MARK, Limits

# Properties of a report, which JUnit's XML has too.
HEADLINE = "gpu_memory"
SNAPSHOT = "gpu_memory_snapshot"
_TITLE = "GPU memory"


class Verdict:
    """The snapshots of a test, and what is known besides them."""

    def __init__(self, config: Any, limits: Limits, snapshots: list[str], messages: list[str]) -> None:
        self.config = config
        self.limits = limits
        self.snapshots = snapshots
        self.messages = messages

    def add_to(self, report: Any) -> None:
        """Fails a report that passed if a limit is exceeded, and explains one that failed."""
        if not self.snapshots:
            self._add_nothing(report)
            return
        try:
            judgement = program.judge(self.snapshots, self.limits)
        except program.Failed as error:
            self._fail(report, f"the snapshot could not be judged: {error}")
            return
        report.user_properties += [(HEADLINE, text) for text in judgement.headlines]
        report.user_properties += [(SNAPSHOT, path) for path in self.snapshots]
        names = ", ".join(self.shown(path) for path in self.snapshots)
        text = f"{judgement.text()}\n\nSnapshot: {names}"
        if report.passed and judgement.exceeded:
            self._fail(report, text)
        elif report.failed:
            report.sections.append((_TITLE, "\n".join([*self.messages, text])))

    def _add_nothing(self, report: Any) -> None:
        if report.passed:
            self._fail(report, f"the test has the mark {MARK} and used no GPU memory, so that there is nothing to judge")
        elif report.failed and self.messages:
            report.sections.append((_TITLE, "\n".join(self.messages)))

    def _fail(self, report: Any, text: str) -> None:
        report.outcome = "failed"
        report.longrepr = text

    def shown(self, path: str) -> str:
        """Returns the path from the folder in which pytest was started, if it is below it."""
        try:
            below = os.path.relpath(path, self.config.invocation_params.dir)
        except ValueError:
            return path
        return path if below.startswith("..") else below


def file_name(nodeid: str) -> str:
    """Returns the name of a test's snapshot, another one for each test."""
    plain = nodeid.replace("::", "-").replace("/", "-").replace("[", "-").rstrip("]")
    name = re.sub(r"[^\w.=-]+", "-", plain)[:120]
    if name == plain:
        return name
    return f"{name}-{hashlib.sha1(nodeid.encode()).hexdigest()[:6]}"
