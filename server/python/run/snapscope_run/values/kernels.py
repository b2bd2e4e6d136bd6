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
from .patch import original, wrap

_library = None
_counts = None
# Weak reference, version and count of each tensor whose elements were counted, by its id.
_counted = {}
_reading = threading.local()
# A number above this is what the bytes of another tensor look like.
_MOST = 1 << 32


def install(torch, counts):
    global _library, _counts
    _counts = counts
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        # PyTorch says that it had these kernels.
        warnings.simplefilter("ignore")
        library.impl("nonzero", _nonzero(torch), "CUDA")
        library.impl("_local_scalar_dense", _number(torch), "CUDA")
        library.impl("_linalg_check_errors", _nothing_failed, "CUDA")
        # Older versions do not give their kernels away.
        if hasattr(torch.library, "get_kernel"):
            library.impl("_coalesce", _coalesce(torch), "SparseCUDA", with_keyset=True)
            for name, count in (("_unique", _different), ("_unique2", _different), ("unique_consecutive", _runs)):
                library.impl(name, _unique(torch, name, count), "CUDA", with_keyset=True)
            library.impl("linalg_matrix_exp", _exponential(torch), "CUDA", with_keyset=True)
    for owner in (torch, torch.Tensor):
        # Its check fails where the window is zero.
        wrap(owner, "istft", _same, around=_not_zero)
    wrap(torch, "ctc_loss", _same, around=_of_lengths)
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


def _same(function):
    return lambda result, *args, **kwargs: result


def _not_zero(*args, **kwargs):
    return answers.answering(("?", False))


def _of_lengths(log_probs, targets, input_lengths, target_lengths, *args, **kwargs):
    """Tells the lengths of what is recognized: the known ones, or else the largest that are possible."""
    count = log_probs.shape[1] if log_probs.dim() == 3 else 1
    of_targets = targets.shape[1] if targets.dim() == 2 else targets.numel() // max(count, 1)
    told = []
    for lengths, most in ((input_lengths, log_probs.shape[0]), (target_lengths, of_targets)):
        if isinstance(lengths, carried.torch.Tensor) and lengths.is_cuda:
            value = carried.value_of(lengths)
            told.append((f"{count}q", *([most] * count if value is None else value.tensor.flatten().tolist())))
    return answers.answering(*told)


def _nothing_failed(infos, name, *, is_matrix):
    """Takes each decomposition for one that succeeded, but looks as PyTorch does, which needs memory."""
    infos.any()


def _exponential(torch):
    exponential = torch.library.get_kernel("aten::linalg_matrix_exp", "CUDA")

    def compute(keys, tensor):
        # The matrices are grouped by how often each is squared: one group of all, squared once.
        count = tensor.numel() // max(tensor.shape[-1] ** 2, 1)
        with answers.answering(("q", 1), ("2q", count, 1)):
            return exponential.call_boxed(keys, tensor)

    return compute


def _unique(torch, name, count):
    find = torch.library.get_kernel(f"aten::{name}", "CUDA")

    def unique(keys, tensor, *rest):
        with torch._C.DisableTorchFunction():
            # Rows of a dimension are counted by a kernel, and true and false by a sum.
            is_other = tensor.dtype == torch.bool or name == "unique_consecutive" and rest[2:] not in ((), (None,))
            known = [] if is_other else [("q", tried(min(tensor.numel(), 1), _unique_count, tensor, count))]
            with answers.answering(*known):
                return find.call_boxed(keys, tensor, *rest)

    return unique


def _unique_count(tensor, count):
    """Returns how many elements are left of a tensor; if its values are not known, they are all the same."""
    value = carried.value_in(tensor)
    if value is None or value.base.assumed:
        _counts.add("size", value is not None)
    return min(tensor.numel(), 1) if value is None else count(value.tensor)


def _different(value):
    return value.unique().numel()


def _runs(value):
    return value.unique_consecutive().numel()


def _places(tensor):
    """Returns the number of different places of a sparse tensor's elements; if they are not known, all are different."""
    value = carried.value_in(tensor._indices())
    if value is None or value.base.assumed:
        _counts.add("size", value is not None)
    return tensor._nnz() if value is None else value.tensor.unique(dim=1).shape[1]


def read(args):
    """Notes that Python code reads a number itself, in contrast to what C++ code reads of tensors of its own."""
    is_tensor = args and isinstance(args[0], carried.torch.Tensor)
    _reading.tensor = weakref.ref(args[0]) if is_tensor else None
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
    if answers.is_answering():
        return result
    if (getattr(_reading, "tensor", None) or bool)() is tensor:
        # Kept memory has what another tensor left there, which would be a count of anything.
        is_count = not tensor.is_floating_point() and not tensor.is_complex()
        return result if not is_count or abs(result) < _MOST else type(result)(0)
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
