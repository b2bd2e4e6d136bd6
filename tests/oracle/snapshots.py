"""Reading a memory snapshot: its events, its peaks and what is alive at the highest moment."""

import gzip
import pickle
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

Event = dict[str, Any]

GROW = {"segment_alloc", "segment_map"}
SHRINK = {"segment_free", "segment_unmap"}


@dataclass(frozen=True)
class Peak:
    """The highest live bytes of a trace that was recorded from the start."""

    bytes: int
    """Sum of the requested sizes of the allocations alive."""
    event: int
    """The event after which they are alive; -1 where nothing ever was."""
    alive: list[Event]
    """Their `alloc` events, oldest first."""


def load(path: Path) -> dict[str, Any]:
    """The snapshot in a file, gzipped or not."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        return pickle.load(file)


def events(snapshot: dict[str, Any], device: int = 0) -> list[Event]:
    """The allocator's events of a device, without the marks of snapshots taken."""
    return [event for event in snapshot["device_traces"][device] if event["action"] != "snapshot"]


def actions(trace: list[Event]) -> Counter[str]:
    """How often each action occurs."""
    return Counter(event["action"] for event in trace)


def sequence(trace: list[Event]) -> list[tuple[str, int]]:
    """What two runs of one program have in common: action and size, without addresses and times."""
    return [(event["action"], event["size"]) for event in trace]


def first_difference(a: list[Event], b: list[Event]) -> int | None:
    """The index of the first event whose action or size differs, or None."""
    left, right = sequence(a), sequence(b)
    if left == right:
        return None
    pairs = zip(left, right)
    return next((index for index, (x, y) in enumerate(pairs) if x != y), min(len(left), len(right)))


def peak(trace: list[Event]) -> Peak:
    """The first moment with the most live bytes."""
    best_bytes, best_event, live = 0, -1, 0
    sizes: dict[int, int] = {}
    for index, event in enumerate(trace):
        if event["action"] == "alloc":
            sizes[event["addr"]] = event["size"]
            live += event["size"]
            if live > best_bytes:
                best_bytes, best_event = live, index
        elif event["action"] == "free_completed":
            live -= sizes.pop(event["addr"], 0)
    return Peak(best_bytes, best_event, alive_after(trace, best_event))


def alive_after(trace: list[Event], index: int) -> list[Event]:
    """The `alloc` events of what is alive after an event."""
    alive: dict[int, Event] = {}
    for event in trace[: index + 1]:
        if event["action"] == "alloc":
            alive[event["addr"]] = event
        elif event["action"] == "free_completed":
            alive.pop(event["addr"], None)
    return list(alive.values())


def bytes_by(allocations: list[Event], key: Callable[[Event], str]) -> Counter[str]:
    """Requested bytes of allocations, summed by a name of each."""
    sums: Counter[str] = Counter()
    for event in allocations:
        sums[key(event)] += event["size"]
    return sums


def reserved_bytes(snapshot: dict[str, Any]) -> int:
    """Bytes of the segments that there are when the snapshot is taken."""
    return sum(segment["total_size"] for segment in snapshot["segments"])
