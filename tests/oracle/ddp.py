"""One process of several that train together with `DistributedDataParallel`."""

import os
import time
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.amp import GradScaler
from torch.nn.parallel import DistributedDataParallel

from job import Ddp, Job

# Where NCCL's processes find the name of their communicator, and what it may be.
COMMUNICATOR, NAME = "0//cuda//0", "\0" * 128

# NCCL's tensors are let go of by a thread that looks at finished work ten times a second; real steps take longer.
WATCHDOG_S = 0.3


def wrapped(job: Job, model: nn.Module) -> nn.Module:
    """The model as this process has it, which joins the others."""
    ddp = job.ddp
    if ddp is None:
        return model
    join(ddp)
    GradScaler._maybe_opt_step = step
    return DistributedDataParallel(
        model,
        device_ids=[0],
        bucket_cap_mb=ddp.bucket_mb,
        gradient_as_bucket_view=ddp.gradient_as_bucket_view,
        static_graph=ddp.static_graph,
        find_unused_parameters=ddp.find_unused_parameters,
    )


def step(scaler: GradScaler, optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> Any:
    """The optimizer's step, whatever the device has in the place of infinities.

    The virtual GPU keeps copies here and runs no kernel: what was copied there before would be read as an infinity.
    """
    return optimizer.step()


def join(group: Ddp) -> None:
    """Makes this process one of a group in which nobody else ever shows up."""
    device = torch.device("cuda", 0)
    torch.cuda.set_device(device)
    os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "0"
    store = dist.HashStore()
    if group.rank > 0:
        # The first process would have put it there.
        store.set(COMMUNICATOR, NAME)
    dist.init_process_group("nccl", store=store, rank=group.rank, world_size=group.ranks, device_id=device)


def reduce_after(model: nn.Module, is_last: bool) -> None:
    """Lets only the last micro batch of a step reduce gradients, as `no_sync()` around the others does."""
    if isinstance(model, DistributedDataParallel):
        model.require_backward_grad_sync = is_last


def settle(job: Job) -> None:
    """Waits until finished collectives let go of their tensors, at the end of a step."""
    if job.ddp is not None:
        time.sleep(WATCHDOG_S)
