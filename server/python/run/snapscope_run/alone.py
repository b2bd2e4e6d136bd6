"""Lets data loaders work in the script's own process, where it may start no others."""

import functools

from .importing import at_import

NOTE = "data loaders worked in the script's own process, since it may start no others here"


def install(notes):
    at_import("torch.utils.data.dataloader", lambda module: _wrap(module.DataLoader, notes))


def _wrap(kind, notes):
    made = kind.__init__

    @functools.wraps(made)
    def init(self, *args, **options):
        made(self, *args, **options)
        if self.num_workers > 0:
            # The class itself refuses to change these once they are set.
            self.__dict__.update(num_workers=0, prefetch_factor=None, persistent_workers=False)
            self.__dict__["_DataLoader__multiprocessing_context"] = None
            if NOTE not in notes:
                notes.append(NOTE)

    kind.__init__ = init
