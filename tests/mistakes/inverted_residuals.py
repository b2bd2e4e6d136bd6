"""A MobileNet-like network written by hand, ordinary training."""
import sys
import torch
from torch import nn


class InvertedResidual(nn.Module):
    def __init__(self, channels, expand=4):
        super().__init__()
        hidden = channels * expand
        self.layers = nn.Sequential(
            nn.Conv2d(channels, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(inplace=True),
            nn.Conv2d(hidden, hidden, 3, padding=1, groups=hidden, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(inplace=True),
            nn.Conv2d(hidden, channels, 1, bias=False), nn.BatchNorm2d(channels),
        )

    def forward(self, x):
        return x + self.layers(x)


class SmallMobile(nn.Module):
    def __init__(self, classes=64):
        super().__init__()
        self.stem = nn.Conv2d(3, 24, 3, 2, 1)
        self.stage1 = nn.Sequential(*[InvertedResidual(24) for _ in range(4)])
        self.down = nn.Conv2d(24, 48, 3, 2, 1)
        self.stage2 = nn.Sequential(*[InvertedResidual(48) for _ in range(6)])
        self.fc = nn.Linear(48, classes)

    def forward(self, x):
        x = self.stage2(self.down(self.stage1(self.stem(x))))
        return self.fc(x.mean((2, 3)))


torch.cuda.memory._record_memory_history(max_entries=100000)
model = SmallMobile().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for step in range(6):
    x = torch.randn(16, 3, 96, 96).cuda()
    y = torch.randint(0, 64, (16,)).cuda()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
torch.cuda.memory._dump_snapshot(sys.argv[1])
