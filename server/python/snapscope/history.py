"""PyTorch's history of memory, by what each version of PyTorch can do."""

from __future__ import annotations

import inspect
from typing import Any

from .notices import warn
from .options import Options
from .reading import Reading


class History:
    """PyTorch has one history for all; one that somebody else has started is used and left as it is."""

    def __init__(self, torch: Any, options: Options) -> None:
        self.memory = torch.cuda.memory
        self.enabled = getattr(torch._C, "_cuda_isHistoryEnabled", lambda: False)
        self.options = options
        self.reading = Reading(torch)
        self.is_others = False
        implementation = getattr(self.memory, "_record_memory_history_impl", self.memory._record_memory_history)
        self.known = set(inspect.signature(implementation).parameters)

    @property
    def has_annotations(self) -> bool:
        """True if this version records what `torch.profiler.record_function` marks; since PyTorch 2.8."""
        return "global_record_annotations" in self.known

    def start(self) -> None:
        options = self.options
        # What replaces PyTorch's own function gives each caller a history of its own.
        is_own = getattr(self.memory._record_memory_history, "__module__", "") == self.memory.__name__
        if is_own and self.enabled():
            self.is_others = True
            warn(
                "two recorders",
                "the history of memory was already on when this recording started: the snapshot contains it with its "
                "own settings, and it stays on",
            )
            return
        wanted = {"clear_history": True, "global_record_annotations": options.annotate}
        self.memory._record_memory_history(
            enabled="all",
            context="all" if options.frees else "alloc",
            stacks=options.stacks,
            max_entries=options.entries,
            **{name: value for name, value in wanted.items() if name in self.known},
        )

    def stop(self) -> None:
        if not self.is_others:
            self.memory._record_memory_history(enabled=None)

    def is_lost(self) -> bool:
        """Returns true if somebody has ended the history."""
        return not self.enabled()

    def read(self) -> dict[str, Any]:
        with self.reading:
            snapshot: dict[str, Any] = self.memory._snapshot()
        return snapshot
