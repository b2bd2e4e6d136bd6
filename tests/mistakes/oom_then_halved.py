"""Halves the batch after an out of memory error, as accelerate's find_executable_batch_size does."""
import gc
import sys
import torch
from torch import nn


def find_batch(function, start):
    batch = start
    while batch:
        failed = False
        try:
            return function(batch)
        except torch.cuda.OutOfMemoryError:
            failed = True
        if failed:
            gc.collect()
            torch.cuda.empty_cache()
            batch //= 2
            print("trying", batch)
    raise RuntimeError("no batch fits")


def train(batch):
    model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(6):
        x = torch.rand(batch, 3, 128, 128, device="cuda")
        y = torch.randint(0, 10, (batch,), device="cuda")
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.cuda.memory._record_memory_history(max_entries=100000)
print(find_batch(train, 512))
torch.cuda.memory._dump_snapshot(sys.argv[1])
