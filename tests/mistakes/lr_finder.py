"""Learning rate range test, then a short training from the same start."""
import copy
import sys

import torch
from torch import nn


class LRFinder:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.model_state = {k: v.cpu().clone() for k, v in model.state_dict().items()}
        self.optimizer_state = copy.deepcopy(optimizer.state_dict())
        self.curve = []

    def range_test(self, steps, start=1e-7, end=1.0):
        for i in range(steps):
            lr = start * (end / start) ** (i / (steps - 1))
            for group in self.optimizer.param_groups:
                group["lr"] = lr
            self.curve.append((lr, step(self.model, self.optimizer)))

    def reset(self):
        self.model.load_state_dict(self.model_state)
        self.optimizer.load_state_dict(self.optimizer_state)


def step(model, optimizer):
    x, y = torch.randn(256, 300, device="cuda"), torch.randn(256, 3, device="cuda")
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
model = nn.Sequential(nn.Linear(300, 768), nn.Mish(), nn.Linear(768, 768), nn.Mish(), nn.Linear(768, 3)).cuda()
optimizer = torch.optim.Adam(model.parameters())
finder = LRFinder(model, optimizer)
finder.range_test(10)
finder.reset()
for _ in range(5):
    step(model, optimizer)
print(len(finder.curve))
torch.cuda.memory._dump_snapshot(sys.argv[1])
