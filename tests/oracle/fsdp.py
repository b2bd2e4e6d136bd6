"""FSDP2 as one rank of several: `fully_shard` of each block and of the model, built on the meta device."""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch._subclasses import fake_tensor
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.testing._internal.distributed.fake_pg import FakeStore
from transformers.modeling_layers import GradientCheckpointingLayer

from job import Fsdp, Job


def join_group(job: Job) -> None:
    """Makes this process one of the group that the job has, if it has one.

    The other ranks never show up: collectives do nothing, which is what NCCL's do to PyTorch's allocator.
    """
    device = torch.device("cuda", torch.cuda.current_device())
    if job.fsdp is None:
        return
    store = FakeStore()
    dist.init_process_group("fake", store=store, rank=job.fsdp.rank, world_size=job.fsdp.ranks, device_id=device)
    # The first sharded tensor of a process makes one of 4 bytes on each device that its shapes are inferred for.
    for name in ("cuda", device):
        fake_tensor.init_gpu_context(torch.device(name))
    torch.cuda.empty_cache()


def sharded(model: nn.Module, how: Fsdp) -> nn.Module:
    """The model with this rank's shards on the device, none of which was ever a part of a whole one there."""
    on_device(model, "meta", {})
    policy = MixedPrecisionPolicy(torch.bfloat16, torch.float32) if how.mixed_precision else MixedPrecisionPolicy()
    for block in [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]:
        fully_shard(block, reshard_after_forward=how.reshard_after_forward, mp_policy=policy)
    fully_shard(model, reshard_after_forward=None if how.reshard_after_forward else False, mp_policy=policy)
    on_device(model, "cuda", {})
    return model


def on_device(module: nn.Module, device: str, made: dict[int, Any]) -> None:
    """Gives a module unwritten tensors on a device, as `to_empty` does; but parameters that are shared stay shared."""
    for child in module.children():
        on_device(child, device, made)
    for tensors in (module._parameters, module._buffers):
        for name, tensor in tensors.items():
            if tensor is not None:
                if id(tensor) not in made:
                    made[id(tensor)] = (tensor, unwritten(tensor, device))
                tensors[name] = made[id(tensor)][1]


def unwritten(tensor: Tensor, device: str) -> Tensor:
    """A tensor of the same shape, format and kind."""
    memory = torch.empty_like(tensor.data, device=device)
    return nn.Parameter(memory, requires_grad=tensor.requires_grad) if isinstance(tensor, nn.Parameter) else memory
