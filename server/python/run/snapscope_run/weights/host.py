"""Keeps large tensors of the host untouched, so that the kernel gives them no memory."""

import functools

from ..notices import tried
from ..values.patch import replace

# Bytes of a tensor from which nothing fills it.
LARGE = 1 << 20
# Bytes from which the C library maps fresh pages, which are zero, for each tensor.
MAPPED = 32 << 20
_FILLS = (
    "zero_", "fill_", "normal_", "uniform_", "log_normal_", "exponential_", "mul_", "div_", "add_", "sub_", "clamp_",
)  # fmt: skip
_CASTS = ("type", "float", "half", "bfloat16", "double")
_MAKERS = (("rand", LARGE), ("randn", LARGE), ("zeros", MAPPED), ("ones", MAPPED), ("full", MAPPED))


def install(torch):
    """Replaces what fills, converts or makes a tensor of the host."""
    host = Host(torch)
    init, tensor = torch.nn.init, torch.Tensor
    for name in [name for name in vars(init) if name.endswith("_") and not name.startswith("_")]:
        _wrap(init, name, host.initialized)
    for name in _FILLS:
        _wrap(tensor, name, host.filled)
    for name in _CASTS:
        _wrap(tensor, name, host.cast)
    _wrap(tensor, "to", host.moved)
    _wrap(tensor, "clone", host.copied)
    _wrap(tensor, "copy_", host.copied_into)
    _wrap(tensor, "pin_memory", host.pinned)
    for name, size in _MAKERS:
        _wrap(torch, name, functools.partial(host.made, size))


def _wrap(owner, name, answer):
    """Replaces a function by one that asks `answer` first; where that returns `None`, the original runs."""
    function = getattr(owner, name, None)
    if function is None:
        return

    @functools.wraps(function)
    def call(*args, **kwargs):
        answered = tried(None, answer, function, *args, **kwargs)
        return function(*args, **kwargs) if answered is None else answered

    replace(owner, name, function, call)


class Host:
    """Answers for large numbers with fractions on the host; every answer is a tensor, or `None` for none."""

    def __init__(self, torch):
        self.torch = torch
        self.kinds = (torch.Tensor, torch.nn.Parameter)

    def is_large(self, tensor):
        if type(tensor) not in self.kinds or tensor.device.type != "cpu" or not tensor.is_floating_point():
            return False
        return tensor.numel() * tensor.element_size() >= LARGE

    def is_watched(self, tensor):
        """Returns true if autograd has to see what is done with a tensor."""
        return tensor.requires_grad and self.torch.is_grad_enabled()

    def initialized(self, function, tensor=None, *args, **kwargs):
        return tensor if self.is_large(tensor) else None

    def filled(self, function, tensor, *args, **kwargs):
        return tensor if self.is_large(tensor) and not self.is_watched(tensor) else None

    def cast(self, function, tensor, *args, **kwargs):
        if not self.is_large(tensor) or self.is_watched(tensor):
            return None
        probe = function(self.torch.empty(0, dtype=tensor.dtype), *args, **kwargs)
        if not isinstance(probe, self.torch.Tensor) or probe.device.type != "cpu" or probe.dtype == tensor.dtype:
            return None
        return self.torch.empty_like(tensor, dtype=probe.dtype, requires_grad=False)

    def moved(self, function, tensor, *args, **kwargs):
        """Answers `to`.

        What goes to a device in another kind is cast on the host before, as PyTorch does it; without blocking, it casts
        on the device.
        """
        if not self.is_large(tensor) or self.is_watched(tensor):
            return None
        is_copy = bool(kwargs.pop("copy", False))
        device, dtype, not_blocking, memory_format = self.torch._C._nn._parse_to(*args, **kwargs)
        is_same = dtype in (None, tensor.dtype)
        is_away = device is not None and device.type != "cpu"
        if is_away and (is_same or not_blocking) or is_same and not is_copy:
            return None
        empty = self.torch.empty_like(tensor, dtype=dtype or tensor.dtype, requires_grad=False)
        return function(empty, device, memory_format=memory_format) if is_away else empty

    def copied(self, function, tensor, *args, **kwargs):
        if not self.is_large(tensor) or self.is_watched(tensor):
            return None
        return self.torch.empty_like(tensor, requires_grad=False)

    def copied_into(self, function, tensor, source, *args, **kwargs):
        if not self.is_large(source) or self.is_watched(tensor) or self.is_watched(source):
            return None
        if self.is_large(tensor):
            return tensor
        if type(tensor) not in self.kinds or tensor.device.type in ("cpu", "meta") or tensor.dtype == source.dtype:
            return None
        if args[:1] == (True,) or kwargs.get("non_blocking"):
            return None
        return function(tensor, self.torch.empty_like(source, dtype=tensor.dtype, requires_grad=False))

    def pinned(self, function, tensor, *args, **kwargs):
        if not self.is_large(tensor) or self.is_watched(tensor) or tensor.is_pinned():
            return None
        return self.torch.empty_like(tensor, pin_memory=True, requires_grad=False)

    def made(self, size, function, /, *args, **kwargs):
        torch = self.torch
        device = kwargs.get("device")
        if torch.device(torch.get_default_device() if device is None else device).type != "cpu":
            return None
        try:
            shaped = function(*args, **{**kwargs, "device": "meta"})
        except Exception:
            # A generator or memory of the host that is given cannot be on no device.
            return None
        if not shaped.is_floating_point() or shaped.numel() * shaped.element_size() < size:
            return None
        return torch.empty(shaped.shape, dtype=shaped.dtype, requires_grad=shaped.requires_grad)
