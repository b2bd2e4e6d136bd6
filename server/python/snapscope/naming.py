"""Names the memory of tensors in a snapshot, in the form in which PyTorch itself records names since 2.14."""

from __future__ import annotations

from typing import Any, NamedTuple

# Says that the calls of all modules go through hooks, which then are no sign of a hook of the program.
ALL_HOOKED = "snapscope has hooks on all modules"

# Names of a snapshot.
MOST_NAMES = 100_000


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


def add_to(snapshot: dict[str, Any], names: list[Named]) -> None:
    """Appends the names to the events as annotations."""
    traces = snapshot.get("device_traces", [])
    times = [{"time_us": trace[-1]["time_us"]} if trace and "time_us" in trace[-1] else {} for trace in traces]
    first = next((index for index, trace in enumerate(traces) if trace), len(traces))
    for device, address, size, text in names[:MOST_NAMES]:
        device = first if device is None else device
        if device < len(traces):
            event = {"action": "annotate", "addr": address, "size": size, "stream": 0, "user_metadata": text}
            traces[device].append({**event, **times[device], "frames": []})
