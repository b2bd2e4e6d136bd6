"""Warns about each kind of failure once, and never raises."""

from __future__ import annotations

import functools
import os
import sys
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., Any])

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_told: set[str] = set()
# The first error of each function that has failed.
failures: dict[str, str] = {}


class SnapscopeWarning(UserWarning):
    """A failure of the recorder; the program goes on."""


def warn(kind: str, message: str) -> None:
    """Warns, unless this process has warned about the same kind."""
    if kind in _told:
        return
    _told.add(kind)
    try:
        file, line = _place()
        warnings.warn_explicit(message, SnapscopeWarning, file, line)
    except Exception:
        # Warnings are errors in this program, or what shows them fails.
        try:
            print(f"snapscope: {message}", file=sys.stderr)
        except Exception:
            pass


def _place() -> tuple[str, int]:
    """Returns the line of the program that led here."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def tried(default: Any, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls a function; where it raises, warns and returns the default."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        name = getattr(function, "__qualname__", repr(function))
        failures.setdefault(name, repr(error))
        warn(f"{name} {type(error).__name__}", f"{name} failed, and the program goes on: {error!r}")
        return default


def guarded(function: _Function) -> _Function:
    """Makes a function warn where it would raise, and return None."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return tried(None, function, *args, **kwargs)

    return call  # type: ignore[return-value]
