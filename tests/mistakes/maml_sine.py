"""MAML on sine waves: inner steps with create_graph, then the outer update."""
import sys
import torch
from torch import nn
from torch.func import functional_call

torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")


def net(width=256):
    return nn.Sequential(nn.Linear(1, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))


def task(points=512):
    phase, height = torch.rand(2).tolist()
    x = 10 * torch.rand(2, points, 1) - 5
    return x.cuda(), (height * torch.sin(x + phase)).cuda()


def adapt(model, params, x, y, steps=2, lr=0.01):
    for _ in range(steps):
        loss = nn.functional.mse_loss(functional_call(model, params, (x,)), y)
        grads = torch.autograd.grad(loss, list(params.values()), create_graph=True)
        params = {name: p - lr * g for (name, p), g in zip(params.items(), grads)}
    return params


model = net().cuda()
outer = torch.optim.Adam(model.parameters(), lr=1e-3)
for iteration in range(6):
    outer.zero_grad()
    for _ in range(3):
        (x, query), (y, answer) = task()
        fast = adapt(model, dict(model.named_parameters()), x, y)
        loss = nn.functional.mse_loss(functional_call(model, fast, (query,)), answer) / 3
        loss.backward()
    outer.step()
    print(iteration, loss.item())
torch.cuda.memory._dump_snapshot(sys.argv[1])
