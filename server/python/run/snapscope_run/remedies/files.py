"""Remedies whose lines are a file of this package: a loss in chunks, and batches without padding.

The file replaces a function of PyTorch where it is run: here, and in the user's script, which gets its text.
"""

import functools
import importlib.util
import os

from ..notices import tried
from .places import edit, imports_end, own_place


def _run(name):
    """Runs a file, and returns its module and a function that notes what was changed at the user's own line."""
    path = os.path.join(os.path.dirname(__file__), f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"snapscope_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def tell(site, what, change=lambda text: text):
        place = own_place()
        with open(path, encoding="utf-8") as file:
            text = change(file.read().rstrip())
        top = imports_end(place[0]) if place else None
        where = f"{what} at line {place[1]}" if place else what
        site.apply(where, edit((place[0], top), "before", text) if top else None)

    return module, tell


def _chunks(torch, site):
    module, tell = _run("chunked")
    kind = module.ChunkedCrossEntropy
    apply = kind.apply
    told = functools.wraps(apply)(lambda *args: (tried(None, tell, site, "the cross entropy"), apply(*args))[1])
    kind.apply = told


def _padding(torch, site):
    module, tell = _run("trimmed")
    following = module.next_batch

    def see(batch):
        key = _mask(torch, batch)
        if site.is_settled or key is None:
            return
        mask = batch[key]
        used = int(mask.any(0).sum())
        if used < mask.shape[1]:
            own, module.MASK = repr(module.MASK), key
            what = f"the first padded batch, {used} of {mask.shape[1]} columns"
            tell(site, what, lambda text: text.replace(own, repr(key), 1))

    @functools.wraps(following)
    def seen(loader):
        batch = following(loader)
        tried(None, see, batch)
        return batch

    module.next_batch = seen


def _mask(torch, batch):
    """Returns the name or the index of a batch's mask, which is 1 at a row's start or end; None without one.

    Another value has its shape (rows, columns): what the mask is about.
    """
    named = batch.items() if hasattr(batch, "keys") else enumerate(batch if isinstance(batch, (list, tuple)) else ())
    wide = {key: value for key, value in named if isinstance(value, torch.Tensor) and value.dim() == 2}
    for key in sorted(wide, key=lambda key: "mask" not in str(key)):
        value = wide[key]
        alike = [one for one in wide.values() if one.shape == value.shape]
        if value.is_cuda or value.is_floating_point() or len(alike) < 2 or not ((value == 0) | (value == 1)).all():
            continue
        turns = value.long().diff(dim=1)
        if (turns <= 0).all() or (turns >= 0).all():
            return key
    return None


REMEDIES = {"loss-chunks": _chunks, "trim-padding": _padding}
