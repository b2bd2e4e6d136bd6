"""A residual network on pictures, as people write it."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __len__(self):
        return 2000

    def __getitem__(self, i):
        return torch.randn(3, 224, 224), i % 10


class Bottleneck(nn.Module):
    def __init__(self, inp, mid, stride):
        super().__init__()
        out = mid * 4
        self.body = nn.Sequential(nn.Conv2d(inp, mid, 1, bias=False), nn.BatchNorm2d(mid), nn.ReLU(inplace=True),
                                  nn.Conv2d(mid, mid, 3, stride, 1, bias=False), nn.BatchNorm2d(mid), nn.ReLU(inplace=True),
                                  nn.Conv2d(mid, out, 1, bias=False), nn.BatchNorm2d(out))
        self.short = nn.Identity() if inp == out and stride == 1 else nn.Sequential(nn.Conv2d(inp, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return torch.relu(self.body(x) + self.short(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        inp, stages = 64, []
        for i, (mid, n) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
            stages.append(nn.Sequential(*(Bottleneck(inp if j == 0 else mid * 4, mid, 2 if j == 0 and i else 1) for j in range(n))))
            inp = mid * 4
        self.stages = nn.ModuleList(stages)
        self.head = nn.Linear(2048, 10)

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        return self.head(x.mean((2, 3)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()
    loader = DataLoader(Pictures(), batch_size=32, shuffle=True)
    net = ResNet().to("cuda")
    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
    sched = torch.optim.lr_scheduler.StepLR(opt, 10)
    loss_fn = nn.CrossEntropyLoss()
    for i, (x, y) in enumerate(loader):
        x, y = x.cuda(), y.cuda()
        opt.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        sched.step()
        print(i, loss.item(), flush=True)


main()
