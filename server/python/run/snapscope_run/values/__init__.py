"""Carries small values from the host along, so that what depends on them goes as on a real GPU.

A tensor whose value is known is a `Carried`: the same CUDA tensor, with the value on the CPU beside it. PyTorch calls
`__torch_function__` for it and for nothing else, so that tensors without a known value cost nothing, and C++ code sees
an ordinary tensor: a dispatch mode would change which formulas PyTorch takes, and with them what is allocated.
"""

from . import assumptions, carried, compiled, kernels, makers, moves, reads, sent


def install(torch, counts, options):
    """Starts to carry values; reads of others are counted in `counts`."""
    _keep_device_constructors()
    carried.install(torch, counts, options.get("assume", True))
    kernels.install(torch, counts)
    compiled.install(torch, counts)
    makers.install(torch)
    moves.install(torch)
    reads.install(torch, counts, options)
    sent.install()
    if options.get("assume", True):
        assumptions.install(torch, options.get("routing", "even"))
    if options.get("new_tokens"):
        assumptions.limit_generation(options["new_tokens"])


def _keep_device_constructors():
    """Lets PyTorch list the functions that follow `with torch.device(…)` before wrappers take their names."""
    from torch.utils import _device

    getattr(_device, "_device_constructors", list)()
