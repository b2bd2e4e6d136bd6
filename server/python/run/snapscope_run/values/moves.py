"""Copies between the host and the device."""

from . import carried
from .known import is_small
from .patch import wrap


def install(torch):
    for name in ("to", "cuda", "cpu"):
        wrap(torch.Tensor, name, lambda function: _move)
    wrap(torch.Tensor, "copy_", lambda function: _copy)


def _move(result, self, *args, **kwargs):
    plain = carried.torch.Tensor
    if result is self or type(result) is not plain:
        return result
    if result.is_cuda and type(self) is plain and self.device.type == "cpu":
        # Parameters and buffers with fractions change on the device.
        if not result.is_floating_point() and is_small(result):
            carried.give(result, self.detach().to(result.dtype, copy=True))
    elif self.is_cuda and result.device.type == "cpu":
        _fill(result, self)
    return result


def _fill(result, tensor):
    """Gives a copy on the host its value: autograd's hooks get detached tensors, in the middle of a call of another one."""
    value = carried.value_in(tensor)
    if value is not None:
        result.copy_(value.tensor)


def _copy(result, self, *args, **kwargs):
    source = args[0] if args else kwargs.get("src")
    if isinstance(source, carried.torch.Tensor) and source.is_cuda and self.device.type == "cpu":
        _fill(self, source)
    is_plain = type(self) is carried.torch.Tensor and self.is_cuda and not self.is_floating_point()
    if is_plain and self._base is None and is_small(self):
        value = carried.value_of(source)
        known = value.tensor if value else source if source is not None and source.device.type == "cpu" else None
        if known is not None:
            assumed = value.base.assumed if value else None
            carried.give(self, known.detach().to(self.dtype).expand(self.shape).clone(), assumed)
    return result
