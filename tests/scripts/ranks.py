"""Trains two ranks with DistributedDataParallel; run it with torchrun."""

import os

import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("nccl")
device = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(device)
model = nn.parallel.DistributedDataParallel(nn.Linear(2048, 2048).cuda(), device_ids=[device])
optimizer = torch.optim.AdamW(model.parameters())
for step in range(4):
    model(torch.randn(64, 2048, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
