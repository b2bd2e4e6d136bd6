"""Profiles the memory of a single training step."""
import sys

import torch
import torch.nn as nn


def build(dim=384, depth=8):
    layer = nn.TransformerEncoderLayer(dim, 6, 4 * dim, dropout=0.0, batch_first=True, norm_first=True)
    return nn.Sequential(nn.Linear(64, dim), nn.TransformerEncoder(layer, depth, enable_nested_tensor=False), nn.Linear(dim, 64))


def train_step(model, optimizer, x):
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(model(x), x)
    loss.backward()
    optimizer.step()
    torch.cuda.synchronize()


model = build().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
x = torch.randn(16, 128, 64, device="cuda")
for _ in range(5):
    train_step(model, optimizer, x)

torch.cuda.memory._record_memory_history(max_entries=1_000_000)
train_step(model, optimizer, x)
torch.cuda.memory._dump_snapshot(sys.argv[1])
torch.cuda.memory._record_memory_history(enabled=None)
