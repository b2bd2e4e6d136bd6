"""Continues a training from a checkpoint."""
import os
import sys
import tempfile

import torch
from torch import nn


def make_model(width=1024, depth=5):
    return nn.Sequential(*[nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU()) for _ in range(depth)], nn.Linear(width, 50))


def resume(path, device):
    checkpoint = torch.load(path, map_location=device)
    model = make_model().to(device)
    model.load_state_dict(checkpoint["model"])
    return model, checkpoint


def main():
    path = os.path.join(tempfile.mkdtemp(), "last.pt")
    torch.save({"model": make_model().state_dict(), "epoch": 3}, path)
    torch.cuda.memory._record_memory_history(max_entries=100000)
    model, checkpoint = resume(path, "cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(checkpoint["epoch"], checkpoint["epoch"] + 2):
        for _ in range(4):
            x = torch.randn(256, 1024, device="cuda")
            y = torch.randint(0, 50, (256,), device="cuda")
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())
    torch.cuda.memory._dump_snapshot(sys.argv[1])


main()
