"""Objects that ranks send to each other, as if every rank held those of this one."""

import copy
import functools

from ..notices import tried


def install(torch, c10d, notes):
    dist = torch.distributed

    def wrap(name, make):
        original = getattr(c10d, name, None)
        if original is not None:
            call = functools.wraps(original)(make(original))
            for module in (c10d, dist):
                if getattr(module, name, None) is original:
                    setattr(module, name, call)

    wrap("all_gather_object", lambda original: _gather(original, 0))
    wrap("gather_object", lambda original: _gather(original, 1))
    wrap("broadcast_object_list", lambda original: _broadcast(original, dist))
    for name in ("scatter_object_list", "recv_object_list"):
        wrap(name, lambda original, name=name: _receive(original, name, dist, notes))


def _gather(original, place):
    """Gives each place of the list this rank's object."""
    names = ("object_list", "obj") if place == 0 else ("obj", "object_gather_list")

    def call(*args, **kwargs):
        result = original(*args, **kwargs)
        given = {**dict(zip(names, args)), **kwargs}
        tried(None, _fill, given.get(names[place]), given.get("obj"))
        return result

    return call


def _fill(listed, item):
    if listed is not None:
        listed[:] = [copy.deepcopy(item) for _ in listed]


def _broadcast(original, dist):
    """Sends what this rank holds, whoever is the source."""

    def call(object_list, src=None, group=None, *args, **kwargs):
        kwargs.pop("group_src", None)
        return original(object_list, dist.get_rank(), group, *args, **kwargs)

    return call


def _receive(original, name, dist, notes):
    """Leaves the list as it is, unless this rank is the source."""

    def call(*args, **kwargs):
        given = {**dict(zip(("objects", "inputs", "src"), args)), **kwargs}
        if name == "scatter_object_list" and given.get("src", 0) == dist.get_rank():
            return original(*args, **kwargs)
        notes.append(f"rank {dist.get_rank()} received nothing by {name}, because the rank that sends does not run")
        return given.get("src") if name == "recv_object_list" else None

    return call
