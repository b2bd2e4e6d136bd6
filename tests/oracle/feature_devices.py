"""Several devices in a process, and one process of several."""

import os

import torch
import torch.cuda.comm
import torch.cuda.nccl
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

import snapshots
from feature import MIB, actions, block, events, feature, start_recording

RANKS = 8


# Workspaces of cuBLAS and cuBLASLt: each thread has its own, unless it got the handle of one that has just ended.
WORKSPACES = {8_519_680, 1_048_576}


def asked_by_program(event: snapshots.Event) -> bool:
    """Whether an event is an allocation that does not depend on when threads end."""
    return event["action"] == "alloc" and event["size"] not in WORKSPACES


@feature(cards="4x a100-80gb")
def data_parallel_uses_every_device() -> None:
    start_recording()
    model = nn.DataParallel(nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)).cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        model(torch.zeros(64, 512, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert actions(0).count("alloc") > actions(1).count("alloc") > 0
    sizes = [[event["size"] for event in events(device) if asked_by_program(event)] for device in (1, 2, 3)]
    assert sizes[0] == sizes[1] == sizes[2]


@feature(cards="a100-80gb,t4-16gb")
def devices_have_memory_of_their_own() -> None:
    assert torch.cuda.get_device_capability(0) == (8, 0) and torch.cuda.get_device_capability(1) == (7, 5)
    free = [torch.cuda.mem_get_info(device)[0] for device in (0, 1)]
    tensor = block(100, "cuda:1")
    assert [before - torch.cuda.mem_get_info(device)[0] for device, before in enumerate(free)] == [0, 100 * MIB]
    assert tensor.device.index == 1


@feature(cards="2x h100-80gb")
def copies_go_from_peer_to_peer() -> None:
    assert torch.cuda.can_device_access_peer(0, 1)
    source = block(32, "cuda:0")
    copy = source.to("cuda:1", non_blocking=True)
    assert copy.device.index == 1 and torch.cuda.memory_allocated(1) == 32 * MIB
    copy.copy_(source)
    torch.cuda.synchronize(1)


@feature(cards="2x h100-80gb")
def collectives_run_in_one_process() -> None:
    tensors = [torch.zeros(1000, device=f"cuda:{device}") for device in range(2)]
    torch.cuda.nccl.all_reduce(tensors)
    torch.cuda.comm.broadcast_coalesced(tensors[:1], [0, 1])


def join_group() -> torch.device:
    """Makes this process rank 0 of a group in which nobody else ever shows up."""
    device = torch.device("cuda", 0)
    torch.cuda.set_device(device)
    os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "0"
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=RANKS, device_id=device)
    return device


def network() -> nn.Sequential:
    """Four layers that are worth sharding."""
    return nn.Sequential(*(nn.Linear(512, 512) for _ in range(4))).cuda()


def train(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Two steps."""
    for _ in range(2):
        model(torch.zeros(16, 512, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()


def parameter_bytes(model: nn.Module) -> int:
    """Bytes of all parameters in 32-bit floats."""
    return 4 * sum(parameter.numel() for parameter in model.parameters())


@feature(SNAPSCOPE_VIRTUAL_GPU_VALUES="shadow")
def distributed_data_parallel_as_one_rank() -> None:
    device = join_group()
    model = network()
    wrapped = DistributedDataParallel(model, device_ids=[device.index])
    train(wrapped, torch.optim.AdamW(wrapped.parameters()))
    # Weights, two moments, and the buckets that gradients are reduced in.
    assert torch.cuda.memory_allocated() >= 4 * parameter_bytes(model)
    dist.destroy_process_group()


@feature(SNAPSCOPE_VIRTUAL_GPU_VALUES="shadow")
def zero_shards_the_optimizer_state() -> None:
    device = join_group()
    model = DistributedDataParallel(network(), device_ids=[device.index])
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW)
    train(model, optimizer)
    held = sum(state["exp_avg"].numel() for state in optimizer.optim.state.values())
    assert held < sum(parameter.numel() for parameter in model.parameters()), held
    dist.destroy_process_group()


@feature()
def fully_sharded_data_parallel_holds_one_share() -> None:
    join_group()
    model = network()
    whole = parameter_bytes(model)
    for layer in model:
        fully_shard(layer)
    fully_shard(model)
    train(model, torch.optim.AdamW(model.parameters()))
    share = sum(parameter.to_local().numel() * 4 for parameter in model.parameters())
    assert share == whole // RANKS, (share, whole)
    dist.destroy_process_group()


@feature()
def fully_sharded_data_parallel_1_runs() -> None:
    join_group()
    model = FullyShardedDataParallel(network(), device_id=torch.cuda.current_device())
    train(model, torch.optim.AdamW(model.parameters()))
    dist.destroy_process_group()
