"""Runs a marked test in a process of its own, on the virtual GPU."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from typing import Any, Iterator

import pytest

from . import program
from .child import VARIABLE, received
from .limits import MARK, BadMark, Limits, limits_of
from .verdict import Verdict, file_name

# The process on the virtual GPU decides about these, because `torch.cuda.is_available()` is true there.
_LEFT_TO_CHILD = ("skip", "skipif", "xfail")
_MOST_LINES = 40


class VirtualItem(pytest.Item):
    """Stands for a marked test: its parts are those that the process reports."""

    def __init__(self, *, wrapped: Any, folder: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.wrapped = wrapped
        self.folder = folder
        self.own_markers.extend(wrapped.own_markers)
        self.keywords.update({mark.name: mark for mark in wrapped.own_markers})
        self.reports: dict[str, Any] = {}
        # Last lines of the process, and why it ended.
        self.output = ""
        self.ending = ""

    def iter_markers_with_node(self, name: str | None = None) -> Iterator[tuple[Any, Any]]:
        for node, mark in super().iter_markers_with_node(name):
            if mark.name not in _LEFT_TO_CHILD:
                yield node, mark

    def reportinfo(self) -> Any:
        return self.wrapped.reportinfo()

    def setup(self) -> None:
        """Runs the whole test; a failure here is one of the guard and not of the test."""
        try:
            limits = limits_of(self) or Limits()
            self._run(limits)
        except (BadMark, program.Failed) as error:
            pytest.fail(str(error), pytrace=False)

    def runtest(self) -> None:
        if "call" not in self.reports:
            text = f"the process of the test ended before the test did: {self.ending}\n{self.output}"
            pytest.fail(text, pytrace=False)

    def _run(self, limits: Limits) -> None:
        os.makedirs(self.folder, exist_ok=True)
        snapshot = os.path.join(self.folder, f"{file_name(self.nodeid)}.pickle")
        card = [f"--card={limits.card}"] if limits.card else []
        with tempfile.TemporaryDirectory(prefix="snapscope-guard-") as scratch:
            path = os.path.join(scratch, "reports")
            open(path, "w").close()
            command = [sys.executable, "-m", "pytest", *self._arguments()]
            ran = program.ask(
                ["run", "--json", *card, "-o", snapshot, "--", *command],
                env=_environment(path),
                cwd=str(self.config.invocation_params.dir),
            )
            self.reports = received(self.config, path)
        self.output = "\n".join(ran.stderr.splitlines()[-_MOST_LINES:])
        runs = program.run_document(ran)
        self.ending = next((run["message"] for run in runs if run["message"]), "")
        reason = _without_cuda(runs)
        if reason is not None:
            self.reports = {}
            # At the line of the test.
            raise pytest.skip.Exception(reason, _use_item_location=True)
        if "setup" not in self.reports:
            raise program.Failed(f"{self.ending or 'the process of the test did not run it'}\n{self.output}")
        self._judge(runs, limits)

    def _judge(self, runs: list[dict[str, Any]], limits: Limits) -> None:
        for report in self.reports.values():
            report.nodeid = self.nodeid
        call = self.reports.get("call")
        if call is None:
            return
        snapshots = [run["snapshot"] for run in runs if run["snapshot"]]
        folder = str(self.config.invocation_params.dir)
        paths = [os.path.join(folder, snapshot) for snapshot in snapshots]
        # A failure of the test says more about itself.
        messages = [run["message"] for run in runs if run["status"] in ("out-of-memory", "unsupported")]
        Verdict(self.config, limits, paths, messages).add_to(call)

    def _arguments(self) -> list[str]:
        """Returns the arguments of pytest in the process: the same configuration, and this test alone."""
        config = self.config
        option = config.option
        # Without the suffix that xdist adds for a group.
        test = f"{self.wrapped.parent.nodeid}::{self.wrapped.name}"
        path, parts = test.split("::", 1)
        arguments = [f"{config.rootpath / path}::{parts}", f"--rootdir={config.rootpath}", "-o", "addopts="]
        if config.inipath is not None:
            arguments.append(f"--config-file={config.inipath}" if _is_new() else f"-c{config.inipath}")
        for setting in option.override_ini or ():
            if not setting.startswith("addopts="):
                arguments += ["-o", setting]
        for plugin in option.plugins or ():
            if plugin != "no:terminal":
                arguments += ["-p", plugin]
        arguments += [f"--import-mode={option.importmode}", f"--tb={option.tbstyle}", "-p", "no:cacheprovider"]
        if option.showlocals:
            arguments.append("--showlocals")
        return [*arguments, *config.getini("gpu_memory_args")]


def virtual(item: Any, folder: str) -> VirtualItem:
    """Returns what stands for a test."""
    return VirtualItem.from_parent(item.parent, name=item.name, nodeid=item.nodeid, wrapped=item, folder=folder)


def _is_new() -> bool:
    return tuple(int(part) for part in pytest.__version__.split(".")[:2]) >= (7, 4)


def _environment(reports: str) -> dict[str, str]:
    # A worker of xdist has variables that tell its tests who they are; pytest itself reads them as well.
    left_out = ("PYTEST_XDIST_", "PYTEST_CURRENT_TEST", "PYTEST_ADDOPTS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return {**kept, VARIABLE: reports}


def _without_cuda(runs: list[dict[str, Any]]) -> str | None:
    """Returns why a PyTorch cannot use any GPU; None if it can."""
    run = runs[0]
    if run["torch"] is not None and run["cuda"] is None:
        return f"{MARK}: {run['message']}"
    if run["torch"] is None and importlib.util.find_spec("torch") is None:
        return f"{MARK}: PyTorch is not installed"
    return None
