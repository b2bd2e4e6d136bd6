"""The options of a recording, from keywords or from text."""

from __future__ import annotations

import dataclasses
import os
import shlex
import signal as signals
from typing import TYPE_CHECKING, Any, Callable, Iterable

from .notices import warn

if TYPE_CHECKING:
    from typing_extensions import TypedDict

    class Given(TypedDict, total=False):
        """The options that `record` and `start` take; `Options` explains them."""

        steps: int | str | tuple[int, int] | None
        entries: int
        out_of_memory: bool
        every: int
        seconds: float
        keep: int
        signal: int | str | None
        trigger: str | os.PathLike[str] | None
        ranks: str | int | Iterable[int] | None
        stacks: str
        frees: bool
        compress: bool
        annotate: bool
        modules: bool
        holders: bool
        run: str | None
        host: bool
        trackers: bool


@dataclasses.dataclass(frozen=True)
class Options:
    """Options of a recording; the defaults are safe for a run of weeks."""

    folder: str = "snapshots"
    # Record from the end of step A to the end of step B; None for all.
    steps: tuple[int, int] | None = None
    # Latest events that are kept; each takes up to a kilobyte of host memory.
    entries: int = 500_000
    # Write when memory runs out, before the error unwinds the stack.
    out_of_memory: bool = True
    # Write after each so many steps, and after each so many seconds; 0 for never.
    every: int = 0
    seconds: float = 0.0
    # Number of files of `every` and `seconds` to keep.
    keep: int = 3
    # Write when this signal arrives, and when this file appears or is touched.
    signal: int | None = None
    trigger: str | None = None
    # Ranks that record; None for all.
    ranks: frozenset[int] | None = None
    # Stacks of Python only, or `all`, with which a snapshot can take minutes.
    stacks: str = "python"
    # Stacks of frees as well.
    frees: bool = False
    # Compress with gzip, in a thread.
    compress: bool = True
    # Mark steps, and functions that PyTorch marks.
    annotate: bool = True
    # Mark the calls of modules, and name parameters and optimizer state.
    modules: bool = False
    # Find who holds live tensors, and reference cycles; takes seconds per snapshot.
    holders: bool = False
    # First part of the files' names.
    run: str | None = None
    # Name the host in the sidecar.
    host: bool = True
    # Log peak, growth and the snapshot's path to the experiment trackers that the program uses.
    trackers: bool = True


def of_keywords(folder: str | os.PathLike[str], given: Any) -> Options:
    """Returns the options; an unknown one or a wrong value is a warning, and its default holds."""
    read: dict[str, Any] = {"folder": os.path.abspath(os.fspath(folder))}
    for name, value in given.items():
        reader = _READERS.get(name)
        if reader is None:
            warn(f"option {name}", f"there is no option {name!r}: {', '.join(sorted(_READERS))}")
            continue
        try:
            read[name] = reader(value)
        except (TypeError, ValueError, AttributeError):
            warn(f"option {name}", f"the option {name} cannot be {value!r}, so its default is used")
    return Options(**read)


def of_text(text: str) -> Options:
    """Reads `FOLDER name=value …`, the form of the variable SNAPSCOPE_RECORD."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    folder = words.pop(0) if words and "=" not in words[0] else "snapshots"
    # "1" says to record, and names no folder.
    folder = "snapshots" if folder == "1" else folder
    return of_keywords(folder, dict(word.partition("=")[::2] for word in words))


def _steps(value: Any) -> tuple[int, int] | None:
    if value is None or value == "":
        return None
    if isinstance(value, str):
        first, found, last = value.partition("..")
        if not found:
            first, found, last = value.partition(":")
        pair = (int(first or 0), int(last)) if found else (0, int(first))
    else:
        pair = (0, value) if isinstance(value, int) else (int(value[0]), int(value[1]))
    if not 0 <= pair[0] < pair[1]:
        raise ValueError
    return pair


def _bool(value: Any) -> bool:
    if isinstance(value, str):
        if value.lower() in ("1", "yes", "true", "on"):
            return True
        if value.lower() in ("0", "no", "false", "off"):
            return False
        raise ValueError
    return bool(value)


def _at_least(least: float, kind: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        number = kind(value)
        if not number >= least:
            raise ValueError
        return number

    return read


def _signal(value: Any) -> int | None:
    if value in (None, ""):
        return None
    text = str(value).upper()
    if text.isdigit():
        return int(signals.Signals(int(text)))
    name = text if text.startswith("SIG") else f"SIG{text}"
    return int(getattr(signals, name))


def _ranks(value: Any) -> frozenset[int] | None:
    if value in (None, "", "all"):
        return None
    if isinstance(value, str):
        value = value.split(",")
    return frozenset([value]) if isinstance(value, int) else frozenset(int(rank) for rank in value)


def _stacks(value: Any) -> str:
    if value not in ("python", "all"):
        raise ValueError
    return str(value)


def _path(value: Any) -> str | None:
    return None if value in (None, "") else os.path.abspath(os.fspath(value))


def _name(value: Any) -> str | None:
    return None if value in (None, "") else str(value).replace("/", "-").replace("\0", "")


_READERS: dict[str, Callable[[Any], Any]] = {
    "steps": _steps,
    "entries": _at_least(1, int),
    "out_of_memory": _bool,
    "every": _at_least(0, int),
    "seconds": _at_least(0, float),
    "keep": _at_least(1, int),
    "signal": _signal,
    "trigger": _path,
    "ranks": _ranks,
    "stacks": _stacks,
    "frees": _bool,
    "compress": _bool,
    "annotate": _bool,
    "modules": _bool,
    "holders": _bool,
    "run": _name,
    "host": _bool,
    "trackers": _bool,
}
