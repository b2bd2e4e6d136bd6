"""Names the memory of tensors in a snapshot, in the forms in which PyTorch itself records texts of users.

A name becomes the metadata of the event that allocated the memory, which PyTorch records since 2.10. Memory from before
the recording, and memory whose event has another text, gets an `annotate` event, which PyTorch records since 2.14.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# Says that the calls of all modules go through hooks, which then are no sign of a hook of the program.
ALL_HOOKED = "snapscope has hooks on all modules"

# Names of a snapshot.
MOST_NAMES = 100_000

# The latest of these events at an address decides: what has been freed since has no name.
_ABOUT_MEMORY = ("alloc", "free_requested", "free_completed", "annotate")


class Named(NamedTuple):
    """Memory of a tensor, and what it is or who holds it; without a device, it is about all."""

    device: int | None
    address: int
    size: int
    text: str


def named(tensor: Any, text: str) -> Named | None:
    """Names the memory of a tensor on a GPU; None for one without memory of its own, or one that is being made."""
    try:
        # A DTensor wraps the part that this process has.
        tensor = getattr(tensor, "_local_tensor", tensor)
        storage = tensor.untyped_storage()
        found = Named(tensor.device.index, storage.data_ptr(), storage.nbytes(), text)
    except Exception:
        return None
    return found if found.address else None


def one_of_each(names: list[Named]) -> list[Named]:
    """Returns one name for each memory and kind; a flat buffer consists of many tensors."""
    kinds: dict[Any, list[Named]] = {}
    for name in names:
        kinds.setdefault((name.device, name.address, name.text.split(" ")[0]), []).append(name)
    more = ((first, len(others)) for first, *others in kinds.values())
    return [first._replace(text=f"{first.text} and {count} more") if count else first for first, count in more]


def add_to(snapshot: dict[str, Any], names: list[Named], until_us: int | None = None) -> None:
    """Adds the names to the events of a snapshot; names that were found earlier only to events until then."""
    traces = snapshot.get("device_traces", [])
    first = next((index for index, trace in enumerate(traces) if trace), len(traces))
    of_device: dict[int, list[Named]] = {}
    for name in names[:MOST_NAMES]:
        of_device.setdefault(first if name.device is None else name.device, []).append(name)
    for device, of_trace in of_device.items():
        if device < len(traces):
            _add(traces[device], of_trace, until_us)


def _add(trace: list[dict[str, Any]], names: list[Named], until_us: int | None) -> None:
    wanted: dict[int, list[Named]] = {}
    for name in names:
        wanted.setdefault(name.address, []).append(name)
    rest = wanted.pop(0, [])
    for event in reversed(trace):
        if until_us is not None and event.get("time_us", until_us + 1) > until_us:
            continue
        here = wanted.get(event["addr"]) if event["action"] in _ABOUT_MEMORY else None
        if here is None:
            continue
        if event["action"] == "annotate":
            # PyTorch has recorded the name already.
            wanted[event["addr"]] = [name for name in here if name.text != event.get("user_metadata")]
            continue
        del wanted[event["addr"]]
        if event["action"] == "alloc":
            if here and not event.get("user_metadata"):
                event["user_metadata"] = here.pop(0).text
            rest += here
        if not wanted:
            break
    if until_us is not None:
        # An event now could name memory that has been freed since.
        return
    time = {"time_us": trace[-1]["time_us"]} if trace and "time_us" in trace[-1] else {}
    for name in [*rest, *(name for here in wanted.values() for name in here)]:
        event = {"action": "annotate", "addr": name.address, "size": name.size, "stream": 0}
        trace.append({**event, "user_metadata": name.text, **time, "frames": []})
