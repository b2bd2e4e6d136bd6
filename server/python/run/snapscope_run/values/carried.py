"""The class of tensors with a known value, and what their functions return."""

import weakref

from . import answers
from .known import Base, Value, address, is_small
from .patch import original

# Set by install: PyTorch, the class, and the counts of reads.
torch = None
Carried = None
counts = None
# False inside of compiled code, whose tracing cannot see through the class.
is_on = True
# True if numbers that the device computes are assumed to be finite.
assumes = True
_all = weakref.WeakSet()

# Functions whose result is read from the value.
_READS = {
    "item", "tolist", "__bool__", "__int__", "__float__", "__index__", "__complex__", "is_nonzero", "equal",
    "allclose", "__contains__", "__format__", "__repr__", "numpy", "__array__",
}  # fmt: skip
# Attributes that are tensors.
_VIEWS = {"T", "H", "mT", "mH", "data", "real", "imag"}
# Functions that change statistics which are arguments.
_NORMS = ("batch_norm", "instance_norm")
# Functions that make a tensor whose size depends on the value, and that read the number of chosen elements.
_CHOICES = {"nonzero", "argwhere", "masked_select", "where", "__getitem__", "__setitem__", "index_put_", "index_put"}


def install(module, reads, is_assuming):
    global torch, Carried, counts, assumes
    torch, counts, assumes = module, reads, is_assuming
    Carried = _make_class(module)
    new = module.nn.Parameter.__new__

    def new_parameter(cls, data=None, *args, **kwargs):
        # A parameter of another class than Tensor would keep that class, and what is trained has no known value.
        if type(data) is Carried:
            make_plain(data)
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
                return _call(original(func), args, kwargs or {})

        def __reduce_ex__(self, protocol):
            with module._C.DisableTorchFunctionSubclass():
                return module.Tensor.__reduce_ex__(self.detach(), protocol)

        def __deepcopy__(self, memo):
            with module._C.DisableTorchFunctionSubclass():
                copied = module.Tensor.__deepcopy__(self.detach(), memo)
            memo[id(self)] = copied
            return give(copied, self._snapscope.tensor.clone(), self._snapscope.base.assumed)

    return Tensor


def set_aside():
    """Makes all tensors ordinary until `take_back`; returns what that needs, which keeps no tensor alive."""
    global is_on
    is_on = False
    kept = []
    for tensor in list(_all):
        value = make_plain(tensor)
        if value is not None:
            kept.append((weakref.ref(tensor), value, _version(tensor)))
    return kept


def take_back(kept):
    """Gives tensors their values again, unless they have changed."""
    global is_on
    is_on = True
    for reference, value, version in kept:
        tensor = reference()
        if tensor is None:
            continue
        if _version(tensor) != version:
            value.base.is_known = False
        elif type(tensor) is torch.Tensor:
            tensor.__class__ = Carried
            tensor._snapscope = value


def _version(tensor):
    """Returns the number of changes of a tensor; a tensor of inference has none."""
    return None if tensor.is_inference() else tensor._version


def make_plain(tensor):
    """Makes a tensor an ordinary one; returns the value that it had."""
    tensor.__class__ = torch.Tensor
    return tensor.__dict__.pop("_snapscope", None)


def give(tensor, value, assumed=None, base=None):
    """Gives an ordinary CUDA tensor a value; returns the tensor.

    What a CUDA graph captures gets its values later, at each replay.
    """
    may = is_on and type(tensor) is torch.Tensor and tensor.is_cuda and is_small(tensor)
    if may and not torch._C._cuda_isCurrentStreamCapturing():
        tensor.__class__ = Carried
        tensor._snapscope = Value(value, base or Base(assumed))
        _all.add(tensor)
    return tensor


def value_of(tensor):
    """Returns the value of a tensor, or None if it is not known."""
    value = tensor.__dict__.get("_snapscope") if type(tensor) is Carried else None
    return value if value is not None and value.base.is_known else None


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
                return torch.empty(item.shape, dtype=item.dtype)
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
        """Returns the base whose memory a result has."""
        for value in self.values:
            if address(value.tensor) == address(result):
                return value.base
        return Base(self.assumed)

    def forget(self):
        """Marks the values as unknown, because the call changed one of them in a way that is not known."""
        for value in self.values:
            value.base.is_known = False


def _CPU():
    return torch.device("cpu")


def _call(func, args, kwargs):
    name = getattr(func, "__name__", "")
    if name == "__get__":
        attribute = getattr(getattr(func, "__self__", None), "__name__", "")
        if attribute not in _VIEWS:
            return func(*args, **kwargs)
    elif name == "__set__":
        _Arguments(args, kwargs).forget()
        return func(*args, **kwargs)
    known = _Arguments(args, kwargs)
    if not known.is_known:
        return _call_unknown(func, name, args, kwargs, known)
    if name in _READS:
        return _read(func, name, args, kwargs, known)
    if name in _CHOICES or name in ("repeat_interleave", "one_hot"):
        with answers.answering(*_answers(name, known)):
            result = func(*args, **kwargs)
    else:
        result = func(*args, **kwargs)
    return _carry(func, name, result, known, _makes_size(name, known))


def _call_unknown(func, name, args, kwargs, known):
    """Calls a function of which some arguments are not known; a known mask still decides the size of the result."""
    with answers.answering(*_answers_of_masks(name, args, known)):
        result = func(*args, **kwargs)
    if name == "_amp_foreach_non_finite_check_and_unscale_" and assumes:
        _assume_finite(args[1])
    elif _changes(name) or "out" in kwargs:
        _forget_changed(name, args, kwargs, known)
    return result


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


def _read(func, name, args, kwargs, known):
    """Reads the value; the device's copy is made as well, because it waits for the device."""
    if name in ("item", "tolist", "__bool__", "__int__", "__float__", "__index__"):
        func(*args, **kwargs)
    if known.assumed:
        counts.add("number" if known.assumed == "finite" else _kind(name, known), True)
    return func(*known.args, **known.kwargs)


def _kind(name, known):
    if name in ("__bool__", "is_nonzero", "equal", "allclose", "__contains__"):
        return "decision"
    is_number = any(value.tensor.is_floating_point() for value in known.values)
    return "number" if is_number or name in ("__format__", "__repr__") else "integer"


def _makes_size(name, known):
    if name in ("__getitem__", "__setitem__"):
        return any(value.tensor.dtype in (torch.bool, torch.uint8) for value in known.values[1:] or known.values)
    return name in _CHOICES or name.startswith(("unique", "repeat_interleave", "bincount", "one_hot"))


def _answers(name, known):
    """Returns the reads that a function makes of counts which depend on the values."""
    if name == "repeat_interleave":
        total = int(known.values[-1].tensor.sum()) if known.values else 0
        return [("q", total), ("B", 1)]
    if name == "one_hot":
        tensor = known.values[0].tensor
        return [("q", int(tensor.max()))] if tensor.numel() else []
    masks = known.values if name in ("nonzero", "argwhere", "where") else known.values[1:] or known.values
    if name == "masked_select":
        masks = known.values[-1:]
    elif name in ("__getitem__", "__setitem__"):
        masks = [value for value in masks if value.tensor.dtype in (torch.bool, torch.uint8)]
    return [("i", int(value.tensor.count_nonzero())) for value in masks]


def _answers_of_masks(name, args, known):
    if name == "masked_select" and len(args) == 2 and known.args[1] is not args[1]:
        shape = torch.broadcast_shapes(args[0].shape, args[1].shape)
        return [("i", int(known.args[1].expand(shape).count_nonzero()))]
    if name in ("__getitem__", "__setitem__"):
        masks = [value.tensor for value in known.values if value.tensor.dtype in (torch.bool, torch.uint8)]
        return [("i", int(mask.count_nonzero())) for mask in masks]
    return []


def _carry(func, name, result, known, makes_size):
    """Gives the results of a call their values."""
    if isinstance(result, torch.Tensor) and result.device.type == "cpu":
        return _to_host(func, name, result, known)
    if not _may_carry(result):
        if _changes(name):
            _redo(func, known)
        return result
    if makes_size and known.assumed == "choices":
        counts.add("size", True)
    try:
        with torch.no_grad():
            values = func(*known.args, **known.kwargs)
    except Exception:
        if _changes(name):
            known.forget()
        return result
    return _pair(result, values, known)


def _to_host(func, name, result, known):
    """Returns the value of a copy to the host, in memory of its own."""
    value = func(*known.args, **known.kwargs)
    if not isinstance(value, torch.Tensor) or value.shape != result.shape or value.dtype != result.dtype:
        return result
    if known.assumed:
        counts.add("number" if known.assumed == "finite" else _kind(name, known), True)
    return result.copy_(value)


def _redo(func, known):
    """Repeats a change of a carried tensor on its value."""
    try:
        with torch.no_grad():
            func(*known.args, **known.kwargs)
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
        return give(result, values, base=known.base_of(values))
    if isinstance(result, (list, tuple)) and isinstance(values, (list, tuple)) and len(values) == len(result):
        pairs = [_pair(part, value, known) for part, value in zip(result, values)]
        if type(result) in (list, tuple):
            return type(result)(pairs)
        return type(result)(pairs) if not hasattr(result, "_fields") else result._make(pairs)
    return result
