"""The memory of the cards that this process uses, as PyTorch and the driver count it."""

from __future__ import annotations

from typing import Any


def cards(torch: Any) -> list[dict[str, Any]]:
    """Returns the cards on which this process has reserved memory.

    Other cards are not asked, because the question would make a context on them.
    """
    found = []
    for index in range(torch.cuda.device_count()):
        stats = dict(torch.cuda.memory_stats(index))
        if stats.get("reserved_bytes.all.peak", 0) > 0:
            found.append(_card(torch, index, stats))
    return found


def _card(torch: Any, index: int, stats: dict[str, Any]) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(index)
    free, total = torch.cuda.mem_get_info(index)
    reserved = stats.get("reserved_bytes.all.current", 0)
    return {
        "index": index,
        "name": properties.name,
        "capability": [getattr(properties, "major", None), getattr(properties, "minor", None)],
        "total_bytes": total,
        "free_bytes": free,
        "used_bytes": total - free,
        # Contexts, NCCL and libraries of this process, and all of other processes.
        "outside_bytes": total - free - reserved,
        "memory_stats": stats,
    }
