"""Finds a batch size that fits, by halving after an out of memory error."""
import sys
import torch
from torch import nn


class BigNet(nn.Module):
    def __init__(self, width=2048, depth=6):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def one_step(model, optimizer, batch):
    x = torch.randn(batch, 2048, device="cuda")
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()


class BatchFinder:
    def __init__(self, start):
        self.batch = start
        self.error = None

    def run(self, model, optimizer):
        while self.batch > 16:
            try:
                return one_step(model, optimizer, self.batch)
            except torch.cuda.OutOfMemoryError as error:
                self.error = error
                self.batch //= 2
        raise RuntimeError("nothing fits")


torch.cuda.memory._record_memory_history(max_entries=100000)
model = BigNet().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
finder = BatchFinder(65536)
for step in range(4):
    print(step, finder.batch, finder.run(model, optimizer))
torch.cuda.memory._dump_snapshot(sys.argv[1])
