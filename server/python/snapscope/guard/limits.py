"""Reads the mark `gpu_memory` of a test."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Iterator

MARK = "gpu_memory"
_SIZE = re.compile(r"\s*[0-9.]+\s*([kmgt]i?)?b\s*", re.IGNORECASE)
_SIZES = ("peak", "reserved", "growth")


class BadMark(Exception):
    """The mark says something that cannot be understood."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of a test; those that are None are not checked."""

    # The virtual GPU; None for the default of `snapscope run`.
    card: str | None = None
    # Highest live memory, highest reserved memory, and growth from step to step, as `snapscope diagnose` reads them.
    peak: str | None = None
    reserved: str | None = None
    growth: str | None = None

    def options(self) -> Iterator[str]:
        """Returns the limits as options of `snapscope diagnose`."""
        for name in _SIZES:
            value = getattr(self, name)
            if value is not None:
                yield f"--max-{name}={value}"


def limits_of(item: Any) -> Limits | None:
    """Returns the limits of a test, those of the mark nearest to it first; None without the mark."""
    found: dict[str, str | None] = {}
    marks = list(item.iter_markers(MARK))
    for mark in reversed(marks):
        if mark.args:
            raise BadMark(f"the mark {MARK} takes its limits by name, such as peak=\"9 GiB\", not {mark.args[0]!r}")
        for name, value in mark.kwargs.items():
            found[name] = _read(name, value)
    return Limits(**found) if marks else None


def _read(name: str, value: Any) -> str | None:
    if name == "card":
        if not isinstance(value, str) or not value.strip():
            raise BadMark(f"the card of the mark {MARK} is a name such as \"t4-16gb\", not {value!r}")
        return value
    if name not in _SIZES:
        raise BadMark(f"the mark {MARK} has no limit {name!r}: it has card, {', '.join(_SIZES)}")
    if value is None:
        return None
    # A bool is an int, and no size.
    text = f"{value}B" if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not _SIZE.fullmatch(text):
        raise BadMark(f"{name}={value!r} of the mark {MARK} is not a size; use for example \"512 MiB\" or \"9 GiB\"")
    return text.strip()
