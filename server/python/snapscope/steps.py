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

    One that is made anew for the same weights goes on where the last one has stopped, and so does one of other weights
    that steps twice before the others step again: a training that follows another, as in folds.

    `stepped` is called with the number of a step at its first optimizer; `ended` behind the last, as far as those that
    stepped in the step before tell.
    """

    def __init__(self, stepped: Callable[[int], None], ended: Callable[[], None] = lambda: None) -> None:
        self.counts: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.most = 0
        # Weights whose steps are counted.
        self.weights: set[int] = set()
        self.stepped = stepped
        self.ended = ended
        # Those that followed the first one, and those of the step before that have not followed it yet.
        self.followed: weakref.WeakSet[Any] = weakref.WeakSet()
        self.missing: weakref.WeakSet[Any] = weakref.WeakSet()
        # One that has taken its first step, behind those of others, as the latest of all.
        self.joined: weakref.WeakSet[Any] = weakref.WeakSet()
        # For each step that has begun and not ended, whether another was taken within it.
        self.within: list[bool] = []
        module = sys.modules.get("torch.optim.optimizer")
        for name, hook in (("pre", self._before), ("post", self._after)):
            register = getattr(module, f"register_optimizer_step_{name}_hook", None)
            if register is not None:
                # It stays: PyTorch iterates over the hooks while it calls them, so that a hook must not remove one.
                register(hook)

    @guarded
    def _before(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.within.append(False)

    @guarded
    def _after(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        # An optimizer that another one wraps takes the same steps.
        is_nested = bool(self.within and self.within.pop()) or bool(self.within)
        if self.within:
            self.within[-1] = True
        count = self.counts.get(optimizer)
        if count is None:
            weights = {id(weight) for group in optimizer.param_groups for weight in group["params"]}
            count = 0 if is_nested or weights.isdisjoint(self.weights) else self.most
            self.weights |= weights
            joined = weakref.WeakSet([optimizer] if count < self.most else [])
        else:
            joined = weakref.WeakSet()
            if optimizer in self.joined:
                count = self.most + 1
        self.joined = joined
        count += 1
        self.counts[optimizer] = count
        if count > self.most:
            if self.missing:
                self.ended()
            self.followed, self.missing = weakref.WeakSet(), self.followed
            self.missing.discard(optimizer)
            while self.most < count:
                self.most += 1
                self.stepped(self.most)
        else:
            self.followed.add(optimizer)
            self.missing.discard(optimizer)
        if not self.missing:
            self.ended()

    def restart(self) -> None:
        """Counts from zero."""
        self.counts.clear()
        self.weights.clear()
        self.followed.clear()
        self.missing.clear()
        self.joined.clear()
        self.most = 0
