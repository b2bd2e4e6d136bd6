"""Scores molecules with a deep residual network."""
import sys
import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(nn.BatchNorm1d(dim), nn.Linear(dim, dim), nn.PReLU(), nn.Linear(dim, dim))

    def forward(self, x):
        return x + self.net(x)


def predict(model, fingerprints, batch=2048):
    model.eval()
    results = []
    with torch.no_grad():
        for start in range(0, len(fingerprints), batch):
            rows = fingerprints[start : start + batch].to("cuda")
            results.append(model(rows).sigmoid().cpu())
    return torch.cat(results)


torch.cuda.memory._record_memory_history(max_entries=100000)
model = nn.Sequential(nn.Linear(1024, 512), *[Residual(512) for _ in range(18)], nn.Linear(512, 1)).to("cuda")
library = torch.rand(2048 * 4, 1024)
print(predict(model, library).shape)
torch.cuda.memory._dump_snapshot(sys.argv[1])
