"""Snapshot ensembling: a copy of the network at the end of each cosine cycle."""
import copy
import sys

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts


class TextCNN(nn.Module):
    def __init__(self, vocab=12000, dim=160, filters=128, classes=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.convs = nn.ModuleList(nn.Conv1d(dim, filters, k, padding=k // 2) for k in (3, 5, 7))
        self.out = nn.Linear(3 * filters, classes)

    def forward(self, ids):
        x = self.embed(ids).transpose(1, 2)
        return self.out(torch.cat([c(x).relu().amax(-1) for c in self.convs], 1))


def main():
    torch.cuda.memory._record_memory_history(max_entries=100000)
    model = TextCNN().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    schedule = CosineAnnealingWarmRestarts(optimizer, T_0=3)
    members = []
    for cycle in range(6):
        for _ in range(3):
            ids = torch.randint(0, 12000, (64, 80)).cuda()
            target = torch.randint(0, 8, (64,)).cuda()
            loss = nn.functional.cross_entropy(model(ids), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        members.append({k: v.cpu() for k, v in model.state_dict().items()})
    print(f"{len(members)} members")
    torch.cuda.memory._dump_snapshot(sys.argv[1])


if __name__ == "__main__":
    main()
