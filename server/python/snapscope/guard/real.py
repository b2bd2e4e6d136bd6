"""Records marked tests in this process, on the machine's own GPU."""

from __future__ import annotations

import contextlib
import gc
import sys
from typing import Any, Generator

import pytest

import snapscope

from ..binary import binary
from . import program
from .limits import MARK, BadMark, Limits, limits_of
from .verdict import Verdict, file_name

_RUNNING = "_snapscope_guard"


class Recorder:
    """The plugin that records from the setup of a test to the end of its call."""

    def __init__(self, config: Any, folder: str) -> None:
        self.config = config
        self.folder = folder

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> None:
        try:
            limits = limits_of(item)
        except BadMark as error:
            pytest.fail(str(error), pytrace=False)
        if limits is None:
            return
        if binary() is None:
            pytest.fail(program.NO_PROGRAM, pytrace=False)
        _check_gpu()
        recording = snapscope.record(self.folder, run=file_name(item.nodeid))
        recording.__enter__()
        setattr(item, _RUNNING, (recording, limits))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, None]:
        outcome = yield
        report = outcome.get_result()
        running = getattr(item, _RUNNING, None)
        if running is None or (call.when == "setup" and report.passed):
            return
        delattr(item, _RUNNING)
        recording, limits = running
        error = call.excinfo
        recording.__exit__(*((error.type, error.value, error.tb) if error else (None, None, None)))
        if call.when == "call":
            self._judge(report, recording.path, limits)

    def _judge(self, report: Any, path: str | None, limits: Limits) -> None:
        Verdict(self.config, limits, [path] if path else [], []).add_to(report)


def _check_gpu() -> None:
    """Skips the test where there is nothing to measure, and gives cached memory back, so that others do not count."""
    try:
        import torch
    except ImportError:
        pytest.skip(f"{MARK}: PyTorch is not installed")
    if torch.version.cuda is None and getattr(torch.version, "hip", None) is None:
        pytest.skip(f"{MARK}: PyTorch {torch.__version__} is built without CUDA")
    if not torch.cuda.is_available():
        pytest.skip(f"{MARK}: there is no GPU; --gpu-memory=virtual needs none")
    if torch.cuda.is_initialized():
        gc.collect()
        torch.cuda.empty_cache()


def has_gpu() -> bool:
    """Returns true if PyTorch sees a GPU; asks the driver's library, so that processes can still be forked."""
    with contextlib.suppress(ImportError):
        import torch

        if sys.platform == "linux" and torch.version.cuda is not None:
            from torch.cuda import _device_count_nvml  # type: ignore[attr-defined]

            return bool(_device_count_nvml() > 0)
        return bool(torch.cuda.is_available())
    return False
