"""Values that ranks send to each other: C++ writes them, and the other ranks hold what this one holds."""

import functools
import sys

from ..importing import when_imported
from . import carried
from .patch import wrap

# Functions that write what other ranks send into their first argument.
_RECEIVING = ("reduce_scatter", "reduce_scatter_tensor", "all_to_all", "all_to_all_single", "scatter", "recv")


def install():
    """Follows the collectives of PyTorch that Python calls, and what DeepSpeed's ranks compare."""
    when_imported("deepspeed.runtime.zero.utils", _agree, lambda error: None)
    c10d = sys.modules.get("torch.distributed.distributed_c10d")
    if c10d is None:
        return
    for name, follow in (("all_gather", _gathered), *((name, _received) for name in _RECEIVING)):
        function = getattr(c10d, name, None)
        wrap(c10d, name, lambda function, follow=follow: follow)
        if getattr(carried.torch.distributed, name, None) is function:
            setattr(carried.torch.distributed, name, getattr(c10d, name))


def _gathered(result, tensor_list, tensor, *args, **kwargs):
    sent = carried.value_of(tensor)
    for received in tensor_list:
        value = carried.value_of(received)
        if value is not None and sent is not None and value.tensor.numel() == sent.tensor.numel():
            value.tensor.copy_(sent.tensor.reshape(value.tensor.shape))
        else:
            _forget(value)
    return result


def _received(result, output=None, *args, **kwargs):
    for tensor in output if isinstance(output, (list, tuple)) else [output]:
        _forget(carried.value_of(tensor))
    return result


def _forget(value):
    if value is not None:
        value.base.is_known = False


def _agree(module):
    """Lets each rank say in DeepSpeed's checks what the first one says, for which the others hold a place."""
    name = "assert_ints_same_as_other_ranks"
    check = getattr(module, name, None)
    if check is None:
        return

    @functools.wraps(check)
    def call(ints):
        rank = module.dist.get_rank
        module.dist.get_rank = lambda *args, **kwargs: 0
        try:
            return check(ints)
        finally:
            module.dist.get_rank = rank

    setattr(module, name, call)
