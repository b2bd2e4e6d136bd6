"""Siamese network over pairs; several pairs make one update."""
import sys
import torch
import torch.nn.functional as F
from torch import nn
from accelerate import Accelerator


class Branch(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.conv = nn.ModuleList(nn.Conv2d(3 if i == 0 else width, width, 3, padding=1) for i in range(4))
        self.fc = nn.Linear(width, 64)

    def forward(self, x):
        for i, conv in enumerate(self.conv):
            x = F.elu(conv(x))
            if i % 2:
                x = F.avg_pool2d(x, 2)
        return self.fc(x.mean((2, 3)))


def contrastive(a, b, same, margin=1.0):
    distance = (a - b).pow(2).sum(1).add(1e-8).sqrt()
    return (same * distance.pow(2) + (1 - same) * F.relu(margin - distance).pow(2)).mean()


torch.cuda.memory._record_memory_history(max_entries=100000)
accelerator = Accelerator()
net = Branch()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
net, optimizer = accelerator.prepare(net, optimizer)
GROUP = 5
for update in range(6):
    optimizer.zero_grad()
    total = 0.0
    for _ in range(GROUP):
        left = torch.rand(12, 3, 80, 80, device=accelerator.device)
        right = torch.rand(12, 3, 80, 80, device=accelerator.device)
        same = torch.randint(0, 2, (12,), device=accelerator.device).float()
        loss = contrastive(net(left), net(right), same) / GROUP
        accelerator.backward(loss)
        total += loss.item()
    optimizer.step()
torch.cuda.memory._dump_snapshot(sys.argv[1])
