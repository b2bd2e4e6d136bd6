"""Compares a snapshot of a real GPU with one of the virtual GPU, event by event."""

import gzip
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

Event = dict[str, Any]
Pair = tuple[str, int]


@dataclass(frozen=True)
class Likeness:
    """How alike two snapshots are."""

    events: int
    """Events of the real one."""
    prefix: int
    """Events from the first on that are equal in action and size."""
    unordered: bool
    """Whether all are equal if the frees of one moment may come in any order."""
    peak: tuple[int, int]
    """Highest allocated bytes, real and virtual."""
    reserved: tuple[int, int]
    """Reserved bytes at the end, real and virtual."""

    @property
    def is_equal(self) -> bool:
        """Whether all events are equal, in any order of the frees of one moment."""
        return self.prefix == self.events or self.unordered


def load(path: Path) -> dict[str, Any]:
    """Reads a snapshot, compressed or not."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        return pickle.load(file)


def compare(real: dict[str, Any], virtual: dict[str, Any]) -> Likeness:
    """Compares the devices with the most events."""
    (device, left), (other, right) = busiest(real), busiest(virtual)
    pairs, others = sequence(left), sequence(right)
    equal = next((at for at, (a, b) in enumerate(zip(pairs, others)) if a != b), min(len(pairs), len(others)))
    if len(pairs) != len(others):
        equal = min(equal, len(pairs) - 1)
    return Likeness(
        events=len(pairs),
        prefix=equal,
        unordered=list(by_moment(pairs)) == list(by_moment(others)),
        peak=(peak(real, device, left), peak(virtual, other, right)),
        reserved=(reserved(real, device), reserved(virtual, other)),
    )


def busiest(snapshot: dict[str, Any]) -> tuple[int, list[Event]]:
    """Device with the most events, and its events."""
    traces = [[event for event in trace if event["action"] != "snapshot"] for trace in snapshot["device_traces"]]
    return max(enumerate(traces), key=lambda item: len(item[1]))


def sequence(trace: list[Event]) -> list[Pair]:
    """Action and size of each event."""
    return [(event["action"], event["size"]) for event in trace]


def by_moment(pairs: list[Pair]) -> Iterator[list[Pair]]:
    """Runs of frees, sorted, and the other events, each for itself."""
    for is_free, run in groupby(pairs, key=lambda pair: pair[0].startswith("free")):
        if is_free:
            yield sorted(run)
        else:
            yield from ([pair] for pair in run)


def peak(snapshot: dict[str, Any], device: int, trace: list[Event]) -> int:
    """Highest allocated bytes of the trace, counted backwards from what is allocated at its end."""
    live = sum(segment["allocated_size"] for segment in snapshot["segments"] if segment["device"] == device)
    highest = live
    for event in reversed(trace):
        if event["action"] == "alloc":
            live -= event["size"]
        elif event["action"] == "free_completed":
            live += event["size"]
        highest = max(highest, live)
    return highest


def reserved(snapshot: dict[str, Any], device: int) -> int:
    """Bytes of all segments."""
    return sum(segment["total_size"] for segment in snapshot["segments"] if segment["device"] == device)
