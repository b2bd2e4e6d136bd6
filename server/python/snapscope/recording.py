"""A recording as a context manager and a decorator."""

from __future__ import annotations

import functools
import inspect
import os
from typing import Any, Callable, TypeVar

from . import active

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Recording:
    """Records a block or each call of a function; an exception passes through after the snapshot is written."""

    def __init__(self, folder: str | os.PathLike[str], options: Any) -> None:
        self._folder = folder
        self._options = options
        self._recorder: Any = None
        # The file of the last snapshot, once the block has ended.
        self.path: str | None = None

    def __enter__(self) -> Recording:
        self._recorder = active.start(self._folder, self._options)
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            active.stop(recorder, "end" if error is None else _reason(error))
            self.path = recorder.files.last

    def step(self) -> None:
        """Marks the end of a step; without it, the steps of the optimizer are counted."""
        active.step()

    def dump(self, reason: str = "asked") -> str | None:
        """Writes a snapshot now and goes on; returns the file."""
        return active.dump(reason)

    def __call__(self, function: _Function) -> _Function:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def wait(*args: Any, **kwargs: Any) -> Any:
                with Recording(self._folder, self._options):
                    return await function(*args, **kwargs)

            return wait  # type: ignore[return-value]

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with Recording(self._folder, self._options):
                return function(*args, **kwargs)

        return call  # type: ignore[return-value]


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupt"
    return "end" if isinstance(error, (SystemExit, GeneratorExit)) else "exception"
