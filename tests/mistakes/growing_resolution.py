"""Progressive training: image size and batch grow from stage to stage."""
import sys
import torch
from torch import nn

STAGES = [(8, 48), (12, 64), (16, 80), (24, 96)]


class Net(nn.Module):
    def __init__(self, w=32):
        super().__init__()
        self.a = nn.Sequential(nn.Conv2d(3, w, 3, 1, 1), nn.BatchNorm2d(w), nn.Hardswish(), nn.MaxPool2d(2))
        self.b = nn.Sequential(nn.Conv2d(w, 2 * w, 3, 1, 1), nn.BatchNorm2d(2 * w), nn.Hardswish(), nn.MaxPool2d(2))
        self.c = nn.Sequential(nn.Conv2d(2 * w, 4 * w, 3, 1, 1), nn.BatchNorm2d(4 * w), nn.Hardswish())
        self.fc = nn.Linear(4 * w, 20)

    def forward(self, x):
        return self.fc(self.c(self.b(self.a(x))).mean((2, 3)))


torch.cuda.memory._record_memory_history(max_entries=100000)
net = Net().cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for batch, size in STAGES:
    for _ in range(3):
        x = torch.rand(batch, 3, size, size).cuda(non_blocking=True)
        y = torch.randint(0, 20, (batch,)).cuda(non_blocking=True)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
    print(batch, size, loss.item())
torch.cuda.memory._dump_snapshot(sys.argv[1])
