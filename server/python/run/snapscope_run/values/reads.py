"""Reads of values that only a GPU could compute: each is counted with the user's line."""

import os

from .. import lines
from . import carried, kernels
from .patch import wrap

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
    "unique": "size",
    "unique_consecutive": "size",
    "bincount": "size",
    "repeat_interleave": "size",
}  # fmt: skip
_OF_TORCH = ("equal", "allclose", "unique", "unique_consecutive", "bincount", "repeat_interleave")
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
        place = lines.user_line()
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
    losses = _Losses() if options.get("assume", True) else None
    folder = os.path.dirname(torch.__file__)
    for name, kind in _OF_TENSORS.items():
        read = _reader(kind, counts, folder, losses if name in _READ_BACK else None)
        wrap(torch.Tensor, name, lambda function, read=read: read, kernels.read)
    for name in _OF_TORCH:
        read = _reader(_OF_TENSORS[name], counts, folder, None)
        wrap(torch, name, lambda function, read=read: read)
    wrap(getattr(getattr(torch, "amp", None), "GradScaler", None), "get_scale", lambda function: _scale)


def _scale(scale, scaler):
    """Lets the gradient scaler's scale be that of its begin where its value is not known, instead of zero."""
    return scaler._init_scale if abs(scale) < _NOISE else scale


class _Losses:
    """Numbers that fall slowly with each read at a line, in place of zeros."""

    def __init__(self):
        self.reads = {}

    def next(self, frame):
        key = frame.f_code.co_filename, frame.f_lineno
        read = self.reads.get(key, 0)
        self.reads[key] = read + 1
        return 10.0 / (1.0 + 0.01 * read)


def _reader(kind, counts, torch_folder, losses):
    def read(result, *args, **kwargs):
        tensor, args = (args[0], args[1:]) if args else (kwargs.get("input"), ())
        if type(tensor) is not carried.torch.Tensor or not tensor.is_cuda:
            return result
        frame = lines.caller()
        is_number = tensor.is_floating_point() and kind is None
        if is_number and frame.f_code.co_filename.startswith(torch_folder):
            # PyTorch's own checks, such as that of the gradient scaler, expect that all is finite.
            return result
        if not _reads_nothing(args):
            counts.add(kind or ("number" if is_number else "integer"))
        # What is computed is not in the memory of the device; a part of a larger tensor may have come from the host.
        if losses and is_number and not (tensor._base is not None and _NOISE < abs(result) < 1 / _NOISE):
            return losses.next(frame)
        return result

    return read


def _reads_nothing(args):
    """Returns true if what decides is a number, such as that of repeats, or a tensor with a known value."""
    return any(isinstance(item, int) or carried.value_of(item) is not None for item in args)
