"""Two ranks with DistributedDataParallel and FSDP2, each on a virtual GPU of its own."""

import os

import torch
import torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(512, 512).cuda(), device_ids=[rank])
model(torch.randn(8, 512, device="cuda")).sum().backward()
sharded = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.Linear(512, 512)).cuda()
from torch.distributed.fsdp import fully_shard  # noqa: E402

fully_shard(sharded)
sharded(torch.randn(8, 512, device="cuda")).sum().backward()
assert torch.cuda.current_device() == rank
dist.destroy_process_group()
