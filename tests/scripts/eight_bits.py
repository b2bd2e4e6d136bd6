"""Trains with the optimizers and the layers of eight bits of bitsandbytes."""

import bitsandbytes
import torch
from torch import nn

model = nn.Sequential(nn.Linear(512, 4096), nn.GELU(), nn.Linear(4096, 512)).cuda()
for kind in (bitsandbytes.optim.AdamW8bit, bitsandbytes.optim.Lion8bit, bitsandbytes.optim.Adam):
    optimizer = kind(model.parameters(), lr=1e-3)
    for step in range(2):
        model(torch.randn(64, 512, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

layer = bitsandbytes.nn.Linear8bitLt(512, 512, has_fp16_weights=False, threshold=6.0)
layer.load_state_dict(nn.Linear(512, 512).state_dict())
with torch.no_grad():
    assert layer.cuda()(torch.randn(16, 512, dtype=torch.float16, device="cuda")).shape == (16, 512)
