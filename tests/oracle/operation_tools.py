"""What stands around the operations: the profiler, compilers at run time, and collectives."""

import os
import tempfile
from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.attention.flex_attention import flex_attention
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile

from operation import check, expect, group
from virtual import LIBRARIES

RANKS = 8


@group()
def profiler() -> None:
    model, batch = nn.Linear(256, 256, device="cuda"), torch.zeros(32, 256, device="cuda")
    with check("CUDA activities and memory"):
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True) as run:
            model(batch).sum().backward()
        names = {event.key for event in run.key_averages()}
        expect({"aten::addmm", "aten::sum"} <= names, True, "names")
    with check("a trace as a file"), tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        run.export_chrome_trace(path)
        expect(os.path.getsize(path) > 1000, True, "size")
    with check("a schedule of steps"):
        schedule = torch.profiler.schedule(wait=1, warmup=1, active=1)
        with profile(activities=[ProfilerActivity.CUDA], schedule=schedule) as run:
            for _ in range(4):
                model(batch)
                run.step()


@group()
def jiterator() -> None:
    with check("special functions"):
        values = torch.zeros(1000, device="cuda")
        special = torch.special
        for run in special.bessel_j0, special.bessel_y1, special.erfcx, special.i1, special.ndtri, special.airy_ai:
            expect(run(values).shape, values.shape, "shape")
    with check("a kernel of one's own"):
        kernel = torch.cuda.jiterator._create_jit_fn("template <typename T> T twice(T x) { return x + x; }")
        expect(kernel(values).shape, values.shape, "shape")


@group(cards="h100-80gb", TRITON_LIBCUDA_PATH=str(LIBRARIES))
def compiler() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (torch.nn.functional.gelu(x) * y).sum(-1)

    values = [torch.zeros(64, 512, device="cuda", requires_grad=True) for _ in range(2)]
    with check("eager, traced ahead"):
        torch.compile(function, backend="aot_eager")(*values).sum().backward()
    with check("inductor and triton"):
        torch._dynamo.reset()
        output = torch.compile(function)(*values)
        expect(output.shape, (64,), "shape")
        output.sum().backward()
    with check("inductor and CUDA graphs"):
        model = nn.Sequential(nn.Linear(512, 512), nn.GELU(), nn.LayerNorm(512)).cuda()
        compiled = torch.compile(model, mode="reduce-overhead")
        for _ in range(4):
            compiled(values[0].detach()).sum().backward()
            model.zero_grad()
    with check("flexible attention"):
        tensors = [torch.zeros(2, 4, 128, 64, device="cuda", requires_grad=True) for _ in range(3)]
        torch.compile(flex_attention)(*tensors).sum().backward()


def join_group(ranks: int = RANKS) -> torch.device:
    """Makes this process the first of a group in which nobody else ever shows up."""
    device = torch.device("cuda", 0)
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=ranks, device_id=device)
    return device


@group(cards="h100-80gb")
def collectives() -> None:
    device = join_group()
    one = torch.ones(1024, device=device)
    all_of_them = torch.empty(RANKS * 1024, device=device)
    parts = [torch.empty(1024, device=device) for _ in range(RANKS)]
    calls: dict[str, Callable[[], object]] = {
        "all_reduce": lambda: dist.all_reduce(one),
        "all_reduce, average": lambda: dist.all_reduce(one, dist.ReduceOp.AVG),
        "all_reduce, scaled": lambda: dist.all_reduce(one, dist._make_nccl_premul_sum(0.5)),
        "broadcast": lambda: dist.broadcast(one, 3),
        "reduce": lambda: dist.reduce(one, 0),
        "all_gather": lambda: dist.all_gather(parts, one),
        "all_gather_into_tensor": lambda: dist.all_gather_into_tensor(all_of_them, one),
        "reduce_scatter_tensor": lambda: dist.reduce_scatter_tensor(one, all_of_them),
        "reduce_scatter": lambda: dist.reduce_scatter(one, parts),
        "all_to_all_single": lambda: dist.all_to_all_single(all_of_them, all_of_them.clone()),
        "all_to_all": lambda: dist.all_to_all(parts, [one] * RANKS),
        "gather": lambda: dist.gather(one, parts),
        "scatter": lambda: dist.scatter(one, parts),
        "send": lambda: dist.send(one, 1),
        "recv": lambda: dist.recv(one, 1),
        "barrier": lambda: dist.barrier(),
        "all_reduce, asynchronous": lambda: dist.all_reduce(one, async_op=True).wait(),
        "all_reduce_coalesced": lambda: dist.all_reduce_coalesced([one, one]),
    }
    for name, call in calls.items():
        with check(name):
            call()
    with check("a group of some ranks"):
        dist.all_reduce(one, group=dist.new_group([0, 2, 4, 6]))
    with check("a mesh of two by four"):
        mesh = init_device_mesh("cuda", (2, 4), mesh_dim_names=("replicate", "shard"))
        dist.all_reduce(one, group=mesh["shard"].get_group())
    with check("the end"):
        dist.destroy_process_group()


@group(cards="h100-80gb", name="collectives, values kept", SNAPSCOPE_VIRTUAL_GPU_VALUES="shadow")
def collectives_mirrored() -> None:
    device = join_group()
    own = torch.tensor([3.0, 5.0], device=device)
    with check("all_gather_into_tensor: every rank has what this one has"):
        gathered = torch.zeros(2 * RANKS, device=device)
        dist.all_gather_into_tensor(gathered, own)
        expect(gathered.tolist(), [3.0, 5.0] * RANKS, "values")
    with check("all_reduce and broadcast: what this rank has"):
        dist.all_reduce(own)
        dist.broadcast(own, 5)
        expect(own.tolist(), [3.0, 5.0], "values")
    with check("reduce_scatter_tensor: this rank's part"):
        part = torch.zeros(2, device=device)
        dist.reduce_scatter_tensor(part, torch.tensor([float(value) for value in range(16)], device=device))
        expect(part.tolist(), [0.0, 1.0], "values")


def blocks() -> nn.Module:
    """A model of several layers."""
    layers = [nn.TransformerEncoderLayer(256, 4, 512, batch_first=True) for _ in range(3)]
    return nn.Sequential(*layers).cuda()


def steps(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Two steps of training."""
    for _ in range(2):
        model(torch.zeros(4, 64, 256, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


@group(cards="h100-80gb", name="one rank of eight", SNAPSCOPE_VIRTUAL_GPU_VALUES="shadow")
def one_rank_of_eight() -> None:
    join_group()
    with check("fully_shard"):
        model = blocks()
        whole = sum(parameter.numel() for parameter in model.parameters())
        for layer in model:
            fully_shard(layer)
        fully_shard(model)
        own = sum(parameter.to_local().numel() for parameter in model.parameters())
        expect(own, whole // RANKS, "parameters of this rank")
        steps(model, torch.optim.AdamW(model.parameters()))
    with check("FullyShardedDataParallel"):
        model = FullyShardedDataParallel(blocks(), device_id=0)
        steps(model, torch.optim.AdamW(model.parameters()))
    with check("DistributedDataParallel"):
        model = DistributedDataParallel(blocks(), device_ids=[0])
        steps(model, torch.optim.AdamW(model.parameters()))
    with check("ZeroRedundancyOptimizer"):
        model = DistributedDataParallel(blocks(), device_ids=[0])
        steps(model, ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW))
