"""Trains a compiled model: Inductor and Triton make kernels of it."""

import torch
from torch import nn

model = torch.compile(nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 8)).cuda())
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for step in range(3):
    model(torch.randn(64, 256, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
