"""Counts optimizer steps."""

from __future__ import annotations

import sys
import weakref

from .notices import guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


class Steps:
    """Steps of the optimizer that has taken most: several optimizers of one training each take all of its steps.

    `stepped` is called with the number of a step at its first optimizer; `ended` behind the last, as far as those that
    stepped in the step before tell.
    """

    def __init__(self, stepped: Callable[[int], None], ended: Callable[[], None] = lambda: None) -> None:
        self.counts: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.most = 0
        self.stepped = stepped
        self.ended = ended
        # Those that followed the first one, and those of the step before that have not followed it yet.
        self.followed: weakref.WeakSet[Any] = weakref.WeakSet()
        self.missing: weakref.WeakSet[Any] = weakref.WeakSet()
        register = getattr(sys.modules.get("torch.optim.optimizer"), "register_optimizer_step_post_hook", None)
        if register is not None:
            # It stays: PyTorch iterates over the hooks while it calls them, so that a hook must not remove one.
            register(self._after)

    @guarded
    def _after(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        count = self.counts.get(optimizer, 0) + 1
        self.counts[optimizer] = count
        if count > self.most:
            if self.missing:
                self.ended()
            self.followed, self.missing = weakref.WeakSet(), self.followed
            self.missing.discard(optimizer)
            self.most = count
            self.stepped(count)
        else:
            self.followed.add(optimizer)
            self.missing.discard(optimizer)
        if not self.missing:
            self.ended()

    def restart(self) -> None:
        """Counts from zero."""
        self.counts.clear()
        self.followed.clear()
        self.missing.clear()
        self.most = 0
