"""Functions that make tensors on the device from numbers of the host."""

from . import carried, philox
from .known import is_small
from .patch import original, wrap

_MAKERS = (
    "tensor", "as_tensor", "asarray", "arange", "zeros", "ones", "full", "eye", "linspace", "scalar_tensor",
    "zeros_like", "ones_like", "full_like", "tril_indices", "triu_indices",
)  # fmt: skip
_RANDOM = ("randint", "randperm", "rand", "randint_like", "rand_like")
_NEW = ("new_tensor", "new_zeros", "new_ones", "new_full")


def install(torch):
    for owner, names in ((torch, _MAKERS), (torch.Tensor, _NEW)):
        for name in names:
            prepare = _further_numbers if _is_of_first(name) else _numbers
            wrap(owner, name, lambda function: _giver(_same, function), prepare)
    for name in _RANDOM:
        wrap(torch, name, lambda function: _giver(_random, function))


def _numbers(args):
    """Replaces tensors with one known value by their numbers, which the tensor on the CPU is made from as well."""
    return tuple(map(_number, args))


def _further_numbers(args):
    """Does so for all but the first, whose shape and type count."""
    return args[:1] + _numbers(args[1:])


def _is_of_first(name):
    """Returns true for functions that make a tensor of the shape or type of their first argument."""
    return name.endswith("_like") or name.startswith("new_")


def _number(item):
    is_number = type(item) is carried.Carried and item.dim() == 0 and carried.value_of(item) is not None
    return item.item() if is_number else item


def _giver(make, function):
    """Returns what gives a tensor the value of the same one on the CPU."""
    function = original(function)

    def give(result, *args, **kwargs):
        torch = carried.torch
        is_wanted = type(result) is torch.Tensor and result.is_cuda and is_small(result)
        if is_wanted and not torch._C._cuda_isCurrentStreamCapturing():
            kwargs = {name: item for name, item in kwargs.items() if name not in ("out", "pin_memory")}
            kwargs["device"] = "cpu"
            try:
                with torch.no_grad():
                    value = make(function, result, args, kwargs)
            except Exception:
                # What the CPU cannot make stays without a value.
                value = None
            if value is not None:
                carried.give(result, value)
        return result

    return give


def _same(function, result, args, kwargs):
    torch = carried.torch
    name = getattr(function, "__name__", "")
    if args and _is_of_first(name):
        # Only the shape and the type of the first argument count.
        args = (torch.empty(args[0].shape, dtype=args[0].dtype, device="cpu"), *args[1:])
    elif any(isinstance(item, torch.Tensor) and item.is_cuda for item in (*args, *kwargs.values())):
        return None
    return function(*args, **kwargs)


def _drawn(function, result, args, kwargs, generator):
    """Returns the random numbers that a device has drawn, flat; None where that is not known."""
    torch, name = carried.torch, getattr(function, "__name__", "")
    if name.removesuffix("_like") == "rand":
        return philox.fractions(torch, generator, result.numel()) if result.dtype == torch.float32 else None
    if name.removesuffix("_like") != "randint":
        return None
    bounds = [item for item in args[name.endswith("_like") :] if isinstance(item, int)]
    bounds += [kwargs[name] for name in ("low", "high") if name in kwargs]
    return philox.integers(torch, generator, result.numel(), *([0] * (2 - len(bounds))), *bounds)


def _random(function, result, args, kwargs):
    """Makes the random numbers of the device, or of the host where it is not known how the device draws them.

    They repeat where those of the device would: a checkpoint restores the device's generator before it repeats forward.
    """
    torch = carried.torch
    used = kwargs.get("generator") or torch.cuda.default_generators[result.device.index]
    drawn = _drawn(function, result, args, kwargs, used) if result.numel() else None
    if drawn is not None:
        return drawn.view(result.shape).to(result.dtype)
    seed = hash((used.initial_seed(), used.get_offset()))
    kwargs["generator"] = torch.Generator("cpu").manual_seed(seed)
    name = getattr(function, "__name__", "")
    if name.endswith("_like"):
        function = original(getattr(torch, name.removesuffix("_like")))
        kwargs.pop("memory_format", None)
        args, kwargs = args[1:], {**kwargs, "size": result.shape, "dtype": result.dtype}
    return function(*args, **kwargs)
