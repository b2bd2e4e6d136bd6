"""Contrastive learning with a memory bank of keys."""
import copy
import sys
import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, w=24):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, w, 3, 2, 1), nn.BatchNorm2d(w), nn.ReLU(), nn.Conv2d(w, 2 * w, 3, 2, 1), nn.BatchNorm2d(2 * w), nn.ReLU(),
        )
        self.fc = nn.Linear(2 * w, 64)

    def forward(self, x):
        return F.normalize(self.fc(self.body(x).mean((2, 3))), dim=1)


class MoCo:
    def __init__(self, size=20):
        self.query = Encoder().cuda()
        self.key = copy.deepcopy(self.query)
        self.bank = []
        self.size = size

    def loss(self, view1, view2, temperature=0.2):
        q = self.query(view1)
        k = self.key(view2)
        negatives = torch.cat([entry.detach() for entry in self.bank] or [k.detach()])
        positive = (q * k.detach()).sum(1, keepdim=True)
        scores = torch.cat([positive, q @ negatives.T], 1) / temperature
        self.bank = (self.bank + [k])[-self.size :]
        return F.cross_entropy(scores, torch.zeros(len(q), dtype=torch.long, device="cuda"))

    def momentum_update(self, m=0.999):
        for slow, fast in zip(self.key.parameters(), self.query.parameters()):
            slow.data.mul_(m).add_(fast.data, alpha=1 - m)


torch.cuda.memory._record_memory_history(max_entries=100000)
moco = MoCo()
optimizer = torch.optim.SGD(moco.query.parameters(), lr=0.03, momentum=0.9)
for step in range(9):
    view1, view2 = torch.rand(32, 3, 96, 96).cuda(), torch.rand(32, 3, 96, 96).cuda()
    loss = moco.loss(view1, view2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    moco.momentum_update()
torch.cuda.memory._dump_snapshot(sys.argv[1])
