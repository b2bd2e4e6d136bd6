"""Reads of values that only a GPU could compute: each is counted with the user's line."""

import os
import sys

from .. import lines
from . import answers, carried
from .patch import wrap, wrap_index

# Function of tensors to what its result decides; the kind of a number depends on its type.
_OF_TENSORS = {
    "item": None,
    "tolist": None,
    "cpu": None,
    "numpy": None,
    "__bool__": "decision",
    "__int__": None,
    "__float__": None,
    "__index__": "integer",
    "is_nonzero": "decision",
    "equal": "decision",
    "allclose": "decision",
    "nonzero": "size",
    "argwhere": "size",
    "masked_select": "size",
    "unique": "size",
    "unique_consecutive": "size",
    "bincount": "size",
    "repeat_interleave": "size",
}  # fmt: skip
_OF_TORCH = ("equal", "allclose", "nonzero", "argwhere", "masked_select", "unique", "unique_consecutive", "bincount",
             "repeat_interleave", "where")  # fmt: skip
# Functions that read the number of chosen elements.
_COUNTS = ("nonzero", "argwhere", "masked_select", "where")
_READ_BACK = ("item", "__float__")
# A number below this is what the bytes of another tensor look like.
_NOISE = 1e-20


class Counts:
    """Reads by line and kind."""

    def __init__(self):
        self.places = {}
        # True once something is compiled, inside of which values are not followed.
        self.is_compiled = False

    def add(self, kind, is_assumed=False):
        place = lines.user_line(2)
        if place is not None:
            key = place[0], place[1], kind, is_assumed
            self.places[key] = self.places.get(key, 0) + 1

    def table(self):
        """Returns the rows of the report."""
        return [
            {"file": file, "line": line, "kind": kind, "is_assumed": is_assumed, "count": count}
            for (file, line, kind, is_assumed), count in sorted(self.places.items())
        ]


def install(torch, counts, options):
    global _torch_folder
    _torch_folder = os.path.dirname(torch.__file__)
    losses = _Losses() if options.get("assume", True) else None
    for name, kind in _OF_TENSORS.items():
        wrap(torch.Tensor, name, lambda function, name=name, kind=kind: _reader(function, name, kind, counts, losses))
    for name in _OF_TORCH:
        kind = _OF_TENSORS.get(name, "size")
        wrap(torch, name, lambda function, name=name, kind=kind: _reader(function, name, kind, counts, None))
    _keep_scale(torch)
    wrap_index(torch.Tensor, lambda function: _indexer(function, counts))
    wrap(torch.Tensor, "__setitem__", lambda function: _indexer(function, counts))


_torch_folder = ""


def _keep_scale(torch):
    """Lets the gradient scaler's scale be that of its begin where its value is not known, instead of zero."""
    scaler = getattr(getattr(torch, "amp", None), "GradScaler", None)

    def get(function):
        def get_scale(self):
            scale = function(self)
            return self._init_scale if abs(scale) < _NOISE else scale

        return get_scale

    wrap(scaler, "get_scale", get)


class _Losses:
    """Numbers that fall slowly with each read at a line, in place of zeros."""

    def __init__(self):
        self.reads = {}

    def next(self, frame):
        key = frame.f_code.co_filename, frame.f_lineno
        read = self.reads.get(key, 0)
        self.reads[key] = read + 1
        return 10.0 / (1.0 + 0.01 * read)


def _reader(function, name, kind, counts, losses):
    torch = carried.torch
    is_read_back, is_count = name in _READ_BACK, name in _COUNTS

    def read(*args, **kwargs):
        if is_count and _is_unknown((*args, *kwargs.values())):
            # Kept memory has what another tensor left there, which would be a count of anything.
            with answers.answering(("i", 0)):
                result = function(*args, **kwargs)
        else:
            result = function(*args, **kwargs)
        self, args = (args[0], args[1:]) if args else (kwargs.get("input", kwargs.get("condition")), ())
        if type(self) is not torch.Tensor or not self.is_cuda or name == "where" and args:
            return result
        frame = sys._getframe(1)
        is_number = self.is_floating_point() and kind is None
        if is_number and frame.f_code.co_filename.startswith(_torch_folder):
            # PyTorch's own checks, such as that of the gradient scaler, expect that all is finite.
            return result
        if not _reads_nothing(args):
            counts.add(kind or ("number" if is_number else "integer"))
        # What is computed is not in the memory of the device; a part of a larger tensor may have come from the host.
        if losses and is_read_back and is_number and not (self._base is not None and _NOISE < abs(result) < 1 / _NOISE):
            return losses.next(frame)
        return result

    return read


def _is_unknown(args):
    """Returns true if no argument has a known value, and the last one is on the device: the mask, or what is searched."""
    tensors = [item for item in args if isinstance(item, carried.torch.Tensor)]
    return bool(tensors) and tensors[-1].is_cuda and not any(type(item) is carried.Carried for item in tensors)


def _reads_nothing(args):
    """Returns true if what decides is a number, such as that of repeats, or a tensor with a known value."""
    return any(isinstance(item, int) or carried.value_of(item) is not None for item in args)


def _indexer(function, counts):
    torch = carried.torch

    def index(self, item, *rest):
        if type(item) is carried.Carried or type(item) is tuple and _has_carried(item):
            if type(self) is torch.Tensor:
                return _with_carried(function, self, item, rest, counts)
        masks = sum(map(_is_mask, item if type(item) is tuple else (item,)))
        if masks:
            counts.add("size")
            with answers.answering(*[("i", 0)] * masks):
                return function(self, item, *rest)
        return function(self, item, *rest)

    return index


def _is_mask(item):
    return type(item) is carried.torch.Tensor and item.dtype is carried.torch.bool and item.is_cuda


def _has_carried(items):
    return any(type(item) is carried.Carried for item in items)


def _with_carried(function, self, item, rest, counts):
    """Indexes a tensor by others whose values are known: PyTorch asks only the indexed tensor."""
    items = item if type(item) is tuple else (item,)
    values = [carried.value_of(part) for part in items if type(part) is carried.Carried]
    masks = [value for value in values if value is not None and value.tensor.dtype is carried.torch.bool]
    if any(value.base.assumed for value in masks):
        counts.add("size", True)
    with answers.answering(*(("i", int(value.tensor.count_nonzero())) for value in masks)):
        return function(self, item, *rest)
