"""Counts optimizer steps."""

import sys
import weakref


class Steps:
    """Steps of the optimizer that has taken most: several optimizers of one training each take all of its steps."""

    def __init__(self, stepped):
        self.counts = weakref.WeakKeyDictionary()
        self.most = 0
        self.stepped = stepped
        register = getattr(sys.modules.get("torch.optim.optimizer"), "register_optimizer_step_post_hook", None)
        if register is not None:
            register(self._after)

    def _after(self, optimizer, args, kwargs):
        count = self.counts.get(optimizer, 0) + 1
        self.counts[optimizer] = count
        if count > self.most:
            self.most = count
            self.stepped(count)
