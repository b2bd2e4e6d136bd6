"""Copies between the host and the device."""

from . import carried
from .known import is_small
from .patch import wrap


def install(torch):
    for name in ("to", "cuda"):
        wrap(torch.Tensor, name, _to_device)
    wrap(torch.Tensor, "copy_", _copy)


def _to_device(function):
    torch = carried.torch

    def move(self, *args, **kwargs):
        result = function(self, *args, **kwargs)
        # Parameters and buffers with fractions change on the device.
        if result is not self and type(result) is torch.Tensor and result.is_cuda and carried.is_on:
            if type(self) is torch.Tensor and self.device.type == "cpu" and not result.is_floating_point():
                if is_small(result):
                    carried.give(result, self.detach().to(result.dtype, copy=True))
        return result

    return move


def _copy(function):
    torch = carried.torch

    def copy(self, *args, **kwargs):
        result = function(self, *args, **kwargs)
        source = args[0] if args else kwargs.get("src")
        is_plain = type(self) is torch.Tensor and self.is_cuda and not self.is_floating_point()
        if is_plain and carried.is_on and self._base is None and is_small(self):
            value = carried.value_of(source)
            known = value.tensor if value else source if source is not None and source.device.type == "cpu" else None
            if known is not None:
                assumed = value.base.assumed if value else None
                carried.give(self, known.detach().to(self.dtype).expand(self.shape).clone(), assumed)
        return result

    return copy
