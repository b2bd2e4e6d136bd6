"""The class of tensors with a known value, and what their functions return."""

import contextlib
import weakref

from ..notices import tried
from . import answers, patch
from .known import Base, Value, address, is_small

# Set by install: PyTorch, the class, and the counts of reads.
torch = None
Carried = None
counts = None
# True if numbers that the device computes are assumed to be finite.
assumes = True
_all = weakref.WeakSet()
# What is known of memory, by the identity of its storage.
_bases = weakref.WeakValueDictionary()
_FAILED = object()

# Functions whose result is read from the value.
_READS = {
    "item", "tolist", "__bool__", "__int__", "__float__", "__index__", "__complex__", "is_nonzero", "equal",
    "allclose", "__contains__", "__format__", "__repr__",
}  # fmt: skip
# Those of them that would make the text of all numbers on the device, and read each.
_TEXTS = {"__format__", "__repr__"}
# Attributes that are tensors.
_VIEWS = {"T", "H", "mT", "mH", "data", "real", "imag"}
# Functions that change statistics which are arguments.
_NORMS = ("batch_norm", "instance_norm")
# Functions that make a tensor whose size depends on the value, and which are told that size before they read it.
_SIZES = ("unique", "repeat_interleave", "bincount", "one_hot")


def install(module, reads, is_assuming):
    global torch, Carried, counts, assumes
    torch, counts, assumes = module, reads, is_assuming
    Carried = _make_class(module)
    new = module.nn.Parameter.__new__

    def new_parameter(cls, data=None, *args, **kwargs):
        # A parameter of another class than Tensor would keep that class, and what is trained has no known value.
        if type(data) is Carried:
            tried(None, make_plain, data)
        return new(cls, data, *args, **kwargs)

    module.nn.Parameter.__new__ = staticmethod(new_parameter)


def _make_class(module):
    class Tensor(module.Tensor):
        """A tensor whose value is known."""

        __module__ = "torch"
        __qualname__ = "Tensor"

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            with module._C.DisableTorchFunctionSubclass():
                return _call(patch.original(func), args, kwargs or {})

        def __reduce_ex__(self, protocol):
            with module._C.DisableTorchFunctionSubclass():
                return module.Tensor.__reduce_ex__(self.detach(), protocol)

        def __deepcopy__(self, memo):
            with module._C.DisableTorchFunctionSubclass():
                copied = module.Tensor.__deepcopy__(self.detach(), memo)
                memo[id(self)] = copied
                return tried(copied, _give_copy, copied, self)

    return Tensor


def _give_copy(copied, tensor):
    value = tensor._snapscope
    return give(copied, value.tensor.clone(), value.base.assumed)


def set_aside():
    """Makes all tensors ordinary until `take_back`; returns what that needs, which keeps no tensor alive."""
    patch.is_on = False
    kept = []
    for tensor in list(_all):
        value = make_plain(tensor)
        if value is not None:
            kept.append((weakref.ref(tensor), value, version_of(tensor)))
    return kept


def take_back(kept):
    """Gives tensors their values again, unless they have changed."""
    patch.is_on = True
    for reference, value, version in kept:
        tensor = reference()
        if tensor is None:
            continue
        if version_of(tensor) != version:
            value.base.is_known = False
        elif type(tensor) is torch.Tensor:
            tensor.__class__ = Carried
            tensor._snapscope = value


def version_of(tensor):
    """Returns the number of changes of a tensor; a tensor of inference has none."""
    return None if tensor.is_inference() else tensor._version


def is_wrapper(tensor):
    """Returns true within transforms of `torch.func`, whose tensors have no memory of their own."""
    functions = getattr(torch._C, "_functorch", None)
    return functions is not None and functions.is_functorch_wrapped_tensor(tensor)


def make_plain(tensor):
    """Makes a tensor an ordinary one; returns the value that it had."""
    tensor.__class__ = torch.Tensor
    return tensor.__dict__.pop("_snapscope", None)


def give(tensor, value, assumed=None, base=None):
    """Gives an ordinary CUDA tensor a value; returns the tensor.

    What a CUDA graph captures gets its values later, at each replay.
    """
    may = patch.is_on and type(tensor) is torch.Tensor and tensor.is_cuda and is_small(tensor)
    if may and not is_wrapper(tensor) and not torch._C._cuda_isCurrentStreamCapturing():
        tensor._snapscope = Value(value, base or _new_base(tensor, value, assumed))
        tensor.__class__ = Carried
        _all.add(tensor)
    return tensor


def _new_base(tensor, value, assumed):
    base = Base(assumed)
    is_alike = tensor.stride() == value.stride() and tensor.storage_offset() == value.storage_offset()
    if is_alike and tensor.dtype == value.dtype:
        base.memory, base.version, base.tensor = value.untyped_storage(), version_of(tensor), weakref.ref(tensor)
        _bases[tensor.untyped_storage()._cdata] = base
    return base


def value_of(tensor):
    """Returns the value of a tensor, or None if it is not known."""
    value = tensor.__dict__.get("_snapscope") if type(tensor) is Carried else None
    return value if value is not None and value.base.is_known else None


def value_in(tensor):
    """Returns the value of a tensor, or that of the memory of which C++ code has made it a view."""
    value = value_of(tensor)
    if value is not None or type(tensor) is Carried or is_wrapper(tensor):
        return value
    base = _bases.get(tensor.untyped_storage()._cdata)
    if base is None or not base.is_known:
        return None
    # A view of C++ code may count changes for itself.
    counting = base.tensor()
    if base.version != version_of(tensor if counting is None else counting):
        return None
    view = torch.empty(0, dtype=tensor.dtype, device="cpu")
    return Value(view.set_(base.memory, tensor.storage_offset(), tensor.shape, tensor.stride()), base)


class _Arguments:
    """The arguments of a call with values in place of tensors."""

    def __init__(self, args, kwargs):
        self.is_known = True
        self.values = []
        self.args = self._map(args)
        self.kwargs = {name: self._map(item) for name, item in kwargs.items()}

    def _map(self, item):
        if isinstance(item, torch.Tensor):
            if not item.is_cuda:
                self.is_known &= item.device.type == "cpu"
                return item
            value = value_of(item)
            if type(item) is torch.Tensor and not item.numel():
                return torch.empty(item.shape, dtype=item.dtype, device="cpu")
            if value is None:
                self.is_known = False
                if type(item) is Carried:
                    make_plain(item)
                return item
            self.values.append(value)
            return value.tensor
        if isinstance(item, torch.device):
            return _CPU() if item.type == "cuda" else item
        if isinstance(item, str) and item.startswith("cuda"):
            return _CPU()
        if type(item) in (list, tuple):
            return type(item)(self._map(part) for part in item)
        return item

    @property
    def assumed(self):
        """Returns what is assumed for the values; a choice decides more than a number that is finite."""
        found = {value.base.assumed for value in self.values} - {None}
        return "choices" if "choices" in found else "finite" if found else None

    def base_of(self, result):
        """Returns the base whose memory a result has; None if it has its own."""
        for value in self.values:
            if address(value.tensor) == address(result):
                return value.base
        return None

    def note_version(self, args):
        """Notes that the first argument has changed as its value has."""
        value = value_of(args[0]) if args else None
        if value is not None:
            value.base.version = version_of(args[0])

    def forget(self):
        """Marks the values as unknown, because the call changed one of them in a way that is not known."""
        for value in self.values:
            value.base.is_known = False


def _CPU():
    return torch.device("cpu")


def _call(func, args, kwargs):
    name = getattr(func, "__name__", "")
    if name in ("__get__", "__set__"):
        attribute = getattr(getattr(func, "__self__", None), "__name__", "")
        if attribute not in _VIEWS and (attribute, args[1:]) != ("requires_grad", (True,)):
            return func(*args, **kwargs)
    known = tried(None, _Arguments, args, kwargs)
    if name in _TEXTS and known is not None and known.is_known:
        with contextlib.suppress(Exception):
            return _read(func, name, known)
    with answers.answering(*tried((), _answers, name, args, kwargs)):
        result = func(*args, **kwargs)
    finished = tried(_FAILED, _finish, func, name, args, kwargs, known, result)
    if finished is not _FAILED:
        return finished
    tried(None, _stand_back, args, kwargs)
    return result


def _stand_back(*items):
    """Makes all tensors in the arguments ordinary ones, because what happened to their values is not known."""
    for item in items:
        if type(item) is Carried:
            value = make_plain(item)
            value.base.is_known = False
        elif isinstance(item, (list, tuple)):
            _stand_back(*item)
        elif isinstance(item, dict):
            _stand_back(*item.values())


def _finish(func, name, args, kwargs, known, result):
    """Returns the result of a call for the script: read from the values of the arguments, or with a value of its own."""
    if name == "__set__":
        known.forget()
    elif not known.is_known:
        _finish_unknown(name, args, kwargs, known)
    elif name in _READS:
        return _read(func, name, known)
    else:
        return _carry(func, name, args, result, known)
    return result


def _finish_unknown(name, args, kwargs, known):
    """Forgets what a function has changed of which some arguments are not known."""
    if name == "_amp_foreach_non_finite_check_and_unscale_" and assumes:
        _assume_finite(args[1])
    elif _changes(name) or "out" in kwargs:
        _forget_changed(name, args, kwargs, known)


def _assume_finite(found):
    """Keeps the gradient scaler's count of gradients that are not finite, so that the scale is known after its update."""
    value = value_of(found)
    if value is not None:
        value.base.assumed = "finite"


def _forget_changed(name, args, kwargs, known):
    """Forgets the values of what a function changes: its first argument or `out`; private functions change others too."""
    is_private = name.startswith("_") and not name.startswith("__")
    if is_private or name in _NORMS:
        known.forget()
        return
    for item in (*args[:1], kwargs.get("out")):
        for tensor in item if isinstance(item, (list, tuple)) else [item]:
            value = value_of(tensor)
            if value is not None:
                value.base.is_known = False


def _changes(name):
    """Returns true for functions that change an argument: `add_`, `__iadd__`, `__setitem__`, `batch_norm`."""
    if name.startswith("__"):
        return name.startswith("__i") and name not in ("__invert__", "__index__", "__int__") or name == "__setitem__"
    return name.endswith("_") or name in _NORMS


def _read(func, name, known):
    """Reads the value; the device has been asked as well, because that waits for the device."""
    if known.assumed:
        counts.add("number" if known.assumed == "finite" else _kind(name, known), True)
    return func(*known.args, **known.kwargs)


def _kind(name, known):
    if name in ("__bool__", "is_nonzero", "equal", "allclose", "__contains__"):
        return "decision"
    is_number = any(value.tensor.is_floating_point() for value in known.values)
    return "number" if is_number or name in ("__format__", "__repr__") else "integer"


def _answers(name, args, kwargs):
    """Returns the numbers that a function computes from known values on the device, and reads before it makes its result."""
    if name.startswith("_nested_tensor_from_mask"):
        return _lengths(name, *args, **kwargs)
    # The repeats come last, or alone.
    place = slice(1) if name == "one_hot" else slice(2)
    value = value_of(kwargs.get("repeats", args[place][-1] if args else None))
    if value is None or not value.tensor.numel():
        return []
    if name == "repeat_interleave":
        return [("q", int(value.tensor.sum())), ("B", 1)]
    return [("q", int(value.tensor.max()))] if name == "one_hot" else []


def _lengths(name, tensor, mask, mask_check=True):
    """Returns what is read to nest sequences: whether the mask is one of lengths, and each sequence's shape."""
    value = value_of(mask)
    if value is None:
        return []
    lengths = value.tensor.sum(1)
    aligned = [("?", torch.equal(value.tensor, torch.arange(value.tensor.shape[1], device="cpu") < lengths[:, None]))]
    if name.endswith("left_aligned"):
        return aligned
    shapes = [size for length in lengths.tolist() for size in (length, tensor.shape[2])]
    return aligned * bool(mask_check) + [(f"{len(shapes)}q", *shapes)]


def _carry(func, name, args, result, known):
    """Gives the results of a call their values."""
    if isinstance(result, torch.Tensor) and result.device.type == "cpu":
        return _to_host(func, name, result, known)
    if not _may_carry(result):
        if _changes(name):
            _redo(func, args, known)
        return result
    if name.startswith(_SIZES) and known.assumed == "choices":
        counts.add("size", True)
    try:
        with torch.no_grad():
            values = func(*known.args, **known.kwargs)
    except Exception:
        # What the CPU cannot compute has no value.
        if _changes(name):
            known.forget()
        return result
    if _changes(name):
        known.note_version(args)
    return _pair(result, values, known)


def _to_host(func, name, result, known):
    """Returns the value of a copy to the host, in memory of its own."""
    value = func(*known.args, **known.kwargs)
    if not isinstance(value, torch.Tensor) or value.shape != result.shape or value.dtype != result.dtype:
        return result
    if known.assumed:
        counts.add("number" if known.assumed == "finite" else _kind(name, known), True)
    return result.copy_(value)


def _redo(func, args, known):
    """Repeats a change of a carried tensor on its value."""
    try:
        with torch.no_grad():
            func(*known.args, **known.kwargs)
        known.note_version(args)
    except Exception:
        known.forget()


def _may_carry(result):
    if isinstance(result, torch.Tensor):
        return result.is_cuda and is_small(result)
    if isinstance(result, (list, tuple)):
        return any(_may_carry(part) for part in result)
    return False


def _pair(result, values, known):
    if isinstance(result, torch.Tensor) and isinstance(values, torch.Tensor):
        if type(result) is Carried:
            return result
        if result.shape != values.shape:
            # The size was computed from values that the device does not have.
            result = torch.empty(values.shape, dtype=result.dtype, device=result.device)
        return give(result, values, known.assumed, known.base_of(values))
    if isinstance(result, (list, tuple)) and isinstance(values, (list, tuple)) and len(values) == len(result):
        pairs = [_pair(part, value, known) for part, value in zip(result, values)]
        if type(result) in (list, tuple):
            return type(result)(pairs)
        return type(result)(pairs) if not hasattr(result, "_fields") else result._make(pairs)
    return result
