"""Functions that make tensors on the device from numbers of the host."""

from . import carried
from .known import is_small
from .patch import original, wrap

_MAKERS = (
    "tensor", "as_tensor", "asarray", "arange", "zeros", "ones", "full", "eye", "linspace", "scalar_tensor",
    "zeros_like", "ones_like", "full_like", "tril_indices", "triu_indices",
)  # fmt: skip
_RANDOM = ("randint", "randperm", "rand", "randint_like", "rand_like")
_NEW = ("new_tensor", "new_zeros", "new_ones", "new_full")
_generator = None


def install(torch):
    global _generator
    _generator = torch.Generator().manual_seed(0)
    for name in _MAKERS:
        wrap(torch, name, _maker)
    for name in _NEW:
        wrap(torch.Tensor, name, _maker)
    for name in _RANDOM:
        wrap(torch, name, _random)


def _wanted(result):
    torch = carried.torch
    return carried.is_on and type(result) is torch.Tensor and result.is_cuda and is_small(result)


def _maker(function):
    def make(*args, **kwargs):
        args = tuple(map(_number, args))
        result = function(*args, **kwargs)
        if _wanted(result):
            _give(function, result, args, kwargs)
        return result

    return make


def _number(item):
    """Returns the number of a tensor with one known value, which C++ code would read from the device."""
    if type(item) is carried.Carried and item.dim() == 0:
        value = carried.value_of(item)
        if value is not None:
            return item.item()
    return item


def _random(function):
    """A random number of the host is as good as one of the device."""

    def make(*args, **kwargs):
        result = function(*args, **kwargs)
        if _wanted(result):
            _give(function, result, args, {**kwargs, "generator": _generator})
        return result

    return make


def _give(function, result, args, kwargs):
    """Makes the same tensor on the CPU."""
    torch = carried.torch
    kwargs = {name: item for name, item in kwargs.items() if name not in ("out", "pin_memory")}
    kwargs.update(device="cpu")
    function = original(function)
    name = getattr(function, "__name__", "")
    is_like = name.endswith("_like") or name.startswith("new_")
    if is_like:
        # Only the shape and the type of the first argument count.
        args = (torch.empty(args[0].shape, dtype=args[0].dtype), *args[1:]) if args else args
    elif any(isinstance(item, torch.Tensor) and item.is_cuda for item in (*args, *kwargs.values())):
        return
    if name.endswith("_like"):
        kwargs.pop("generator", None)
    try:
        with torch.no_grad():
            carried.give(result, function(*args, **kwargs))
    except Exception:
        # The tensor stays one without a value.
        pass
