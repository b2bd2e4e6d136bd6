"""Answers what PyTorch's C++ code reads from the device: counts of elements, and single numbers.

An index by a mask counts its true elements in forward, in backward, and again where a checkpoint repeats forward; all of
these call the operator `nonzero`. Numbers are read by the operator `_local_scalar_dense`. Their kernels are in Python
here, so that each read of a tensor gets the same answer, whichever code makes it; autograd and its formulas do not change.
"""

import threading
import warnings
import weakref

from .. import lines
from ..notices import tried
from . import answers, carried
from .patch import original

_library = None
_counts = None
# Weak reference, version and count of each tensor whose elements were counted, by its id.
_counted = {}
_reading = threading.local()


def install(torch, counts):
    global _library, _counts
    _counts = counts
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        # PyTorch says that it had these kernels.
        warnings.simplefilter("ignore")
        library.impl("nonzero", _nonzero(torch), "CUDA")
        library.impl("_local_scalar_dense", _number(torch), "CUDA")
        # Older versions do not give their kernels away.
        if hasattr(torch.library, "get_kernel"):
            library.impl("_coalesce", _coalesce(torch), "SparseCUDA", with_keyset=True)
    # The kernels go with the library.
    _library = library


def _nonzero(torch):
    find, empty = original(torch.nonzero), original(torch.empty)

    def nonzero(tensor):
        with torch._C.DisableTorchFunction():
            # Kept memory has what another tensor left there, which would be a count of anything.
            count = tried(None, _count, tensor)
            if count is None:
                count = 0
                tried(None, _remember, tensor, count)
            with answers.answering(("i", count)):
                return find(tensor, out=empty(0, dtype=torch.long, device=tensor.device))

    return nonzero


def _count(tensor):
    """Returns the number of elements that are not zero: that of the first time, or the known one, or none."""
    reference, version, count = _counted.get(id(tensor), (None, None, 0))
    if reference is not None and reference() is tensor and version == carried.version_of(tensor):
        return count
    value = carried.value_in(tensor)
    if value is None or value.base.assumed:
        _counts.add("size", value is not None)
    count = 0 if value is None else int(value.tensor.count_nonzero())
    _remember(tensor, count)
    return count


def _remember(tensor, count):
    """Keeps a count for backward, unless the tensor has no backward."""
    key, version = id(tensor), carried.version_of(tensor)
    if version is not None:
        _counted[key] = weakref.ref(tensor, lambda _: _counted.pop(key, None)), version, count


def _coalesce(torch):
    merge = torch.library.get_kernel("aten::_coalesce", "SparseCUDA")

    def coalesce(keys, tensor):
        with torch._C.DisableTorchFunction():
            with answers.answering(("i", tried(tensor._nnz(), _places, tensor))):
                return merge.call_boxed(keys, tensor)

    return coalesce


def _places(tensor):
    """Returns the number of different places of a sparse tensor's elements; if they are not known, all are different."""
    value = carried.value_in(tensor._indices())
    if value is None or value.base.assumed:
        _counts.add("size", value is not None)
    return tensor._nnz() if value is None else value.tensor.unique(dim=1).shape[1]


def read(args):
    """Notes that Python code reads a number itself, in contrast to what C++ code reads of tensors of its own."""
    _reading.tensor = id(args[0]) if args else None
    return args


def _number(torch):
    to_host, item = original(torch.Tensor.cpu), original(torch.Tensor.item)

    def number(tensor):
        with torch._C.DisableTorchFunction():
            result = item(to_host(tensor))
            return tried(result, _known_number, tensor, result, item)

    return number


def _known_number(tensor, result, item):
    value = carried.value_in(tensor)
    if value is not None:
        return item(value.tensor)
    if answers.is_answering() or id(tensor) == getattr(_reading, "tensor", None):
        return result
    file = lines.caller().f_code.co_filename
    if tensor.dtype == carried.torch.bool:
        # Checks hold, such as that no deviation is negative; layers decide by a number whether they take a short cut.
        return result if lines.is_hooks(file) or "/torch/nn/" in file else True
    # What ranks have sent each other, such as the number of their parameters, was kept on its way.
    if "/torch/distributed/" in file:
        return result
    # Functions that are wrapped, and PyTorch's own in Python, are counted where they are called.
    if not tensor.is_floating_point() and lines.kind(file) == "own":
        _counts.add("integer")
    # Kept memory has what another tensor left there.
    return type(result)(0)
