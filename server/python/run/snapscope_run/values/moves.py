"""Copies between the host and the device."""

from . import carried
from .known import is_small
from .patch import wrap


def install(torch):
    for name in ("to", "cuda"):
        wrap(torch.Tensor, name, lambda function: _to_device)
    wrap(torch.Tensor, "copy_", lambda function: _copy)


def _to_device(result, self, *args, **kwargs):
    plain = carried.torch.Tensor
    # Parameters and buffers with fractions change on the device.
    if result is not self and type(result) is plain and result.is_cuda:
        if type(self) is plain and self.device.type == "cpu" and not result.is_floating_point() and is_small(result):
            carried.give(result, self.detach().to(result.dtype, copy=True))
    return result


def _copy(result, self, *args, **kwargs):
    source = args[0] if args else kwargs.get("src")
    is_plain = type(self) is carried.torch.Tensor and self.is_cuda and not self.is_floating_point()
    if is_plain and self._base is None and is_small(self):
        value = carried.value_of(source)
        known = value.tensor if value else source if source is not None and source.device.type == "cpu" else None
        if known is not None:
            assumed = value.base.assumed if value else None
            carried.give(self, known.detach().to(self.dtype).expand(self.shape).clone(), assumed)
    return result
