"""Ordinary training, recorded without stacks."""
import sys
import torch
from torch import nn

torch.cuda.memory._record_memory_history(context=None, max_entries=100000)


def network(width=512):
    return nn.Sequential(nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))


def accuracy(model):
    with torch.no_grad():
        x, y = torch.rand(1024, 784, device="cuda"), torch.randint(0, 10, (1024,), device="cuda")
        return (model(x).argmax(1) == y).float().mean().item()


model = network().cuda()
optimizer = torch.optim.NAdam(model.parameters(), lr=2e-3)
for epoch in range(2):
    for _ in range(6):
        x, y = torch.rand(512, 784, device="cuda"), torch.randint(0, 10, (512,), device="cuda")
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    print(epoch, accuracy(model))
torch.cuda.memory._dump_snapshot(sys.argv[1])
