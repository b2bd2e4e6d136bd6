"""Answers for ranks that do not run (`--world`): as if each of them held what this one holds.

NCCL's stand-in needs no other rank. What is left are the stores by which ranks find each other, Gloo's connections, and
objects that ranks send to each other.
"""

import sys

from . import launchers, objects
from .store import Answers, make_store


def install(torch, notes):
    """Starts to answer; sentences about what nobody could answer are added to `notes`."""
    dist = torch.distributed
    launchers.install()
    if not dist.is_available():
        return
    from torch.distributed import distributed_c10d as c10d

    # The package has a function of this name.
    rendezvous = sys.modules["torch.distributed.rendezvous"]

    store = make_store(dist.Store, Answers(notes))
    for module in (dist, rendezvous, c10d):
        for name in ("TCPStore", "FileStore"):
            if hasattr(module, name):
                setattr(module, name, store)
    _replace_gloo(torch, c10d)
    objects.install(torch, c10d, notes)


def _replace_gloo(torch, c10d):
    """Gives groups of the host the backend that PyTorch tests with: it connects to nobody."""
    from torch._C import _distributed_c10d as inner

    fake = getattr(inner.FakeProcessGroup, "_create_internal", inner.FakeProcessGroup)

    class Kind(type):
        def __instancecheck__(cls, group):
            return isinstance(group, inner.FakeProcessGroup)

    class Gloo(metaclass=Kind):
        """Stands in for the class that `new_group` makes."""

        def __new__(cls, store, rank, size, *args, **kwargs):
            return fake(rank, size)

    # It counts no collectives and waits for none, as each backend of PyTorch's own does.
    inner.FakeProcessGroup._set_sequence_number_for_group = lambda group: None
    inner.FakeProcessGroup._set_default_timeout = lambda group, timeout: None
    c10d.ProcessGroupGloo = Gloo
    c10d.monitored_barrier = torch.distributed.monitored_barrier = lambda *args, **kwargs: None
