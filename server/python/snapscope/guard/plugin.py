"""The pytest plugin: its options, and the choice between the virtual GPU and a real one."""

from __future__ import annotations

import os
from typing import Any

import pytest

from .child import VARIABLE, Sender
from .limits import MARK
from .verdict import HEADLINE, SNAPSHOT

_LINE = (
    f'{MARK}(card="t4-16gb", peak="9 GiB", reserved="10 GiB", growth="1 MiB"): hold the test to these limits of GPU '
    "memory: the highest live and reserved bytes, and what each step leaves behind"
)


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("gpu memory", "GPU memory (snapscope)")
    group.addoption(
        "--gpu-memory",
        choices=("virtual", "real", "auto"),
        default="virtual",
        help=f"where tests with the mark {MARK} run: each on a virtual GPU in a process of its own (default), in this "
        "process on a real GPU, or on a real one if there is one",
    )
    group.addoption(
        "--gpu-memory-folder",
        metavar="DIR",
        default="gpu-memory",
        help="folder for the snapshots of these tests (default: gpu-memory)",
    )
    parser.addini("gpu_memory_args", "arguments for the pytest that runs a test on a virtual GPU", type="args")


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", _LINE)
    # Removed, because a test may start a pytest of its own.
    reports = os.environ.pop(VARIABLE, None)
    if reports is not None:
        config.pluginmanager.register(Sender(config, reports), "snapscope-sender")
        return
    config.pluginmanager.register(Summary(), "snapscope-summary")
    if _is_real(config.getoption("gpu_memory")):
        from .real import Recorder

        config.pluginmanager.register(Recorder(config, _folder(config)), "snapscope-recorder")
    else:
        config.pluginmanager.register(Virtual(_folder(config)), "snapscope-virtual")


def _folder(config: Any) -> str:
    return os.path.join(str(config.invocation_params.dir), config.getoption("gpu_memory_folder"))


def _is_real(mode: str) -> bool:
    if mode != "auto":
        return mode == "real"
    from .real import has_gpu

    return has_gpu()


class Virtual:
    """Puts stand-ins in the place of marked tests, and gives their reports."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    # The last, so that tests are chosen and named by now.
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if not any(item.get_closest_marker(MARK) for item in items):
            return
        from .virtual import virtual

        items[:] = [virtual(item, self.folder) if item.get_closest_marker(MARK) else item for item in items]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        from .virtual import VirtualItem

        return item.reports.get(call.when) if isinstance(item, VirtualItem) and call.excinfo is None else None


class Summary:
    """Says at the end where the snapshots are."""

    def __init__(self) -> None:
        self.headlines: list[str] = []
        self.snapshots: list[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        for name, value in report.user_properties if report.when == "call" else ():
            if name == HEADLINE:
                self.headlines.append(f"{report.nodeid}: {value}")
            elif name == SNAPSHOT:
                self.snapshots.append(value)

    def pytest_terminal_summary(self, terminalreporter: Any, config: Any) -> None:
        if not self.snapshots:
            return
        terminalreporter.section("GPU memory")
        if config.getoption("verbose") > 0:
            for line in self.headlines:
                terminalreporter.line(line)
        count = len(self.snapshots)
        folder = os.path.dirname(self.snapshots[0])
        terminalreporter.line(f"{count} snapshot{'s' if count > 1 else ''} in {folder}")
