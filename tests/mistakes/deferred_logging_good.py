"""Log lines are written at the end, so that training is not slowed down."""
import sys
import torch
from torch import nn


class DeferredLogger:
    def __init__(self):
        self.pending = []

    def defer(self, action):
        self.pending.append(action)

    def flush(self):
        for action in self.pending:
            action()
        self.pending.clear()


class Denoiser(nn.Module):
    def __init__(self, w=28):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, w, 5, padding=2), nn.ReLU(), nn.Conv2d(w, w, 5, padding=2), nn.ReLU(), nn.Conv2d(w, 1, 5, padding=2))

    def forward(self, x):
        return x - self.net(x)


def psnr(a, b):
    return -10 * torch.log10((a - b).pow(2).mean() + 1e-8)


def train(logger, steps=11):
    net = Denoiser().cuda()
    optimizer = torch.optim.Adamax(net.parameters(), lr=1e-3)
    for step in range(steps):
        clean = torch.rand(8, 1, 128, 128, device="cuda")
        restored = net(clean + 0.1 * torch.randn_like(clean))
        loss = nn.functional.mse_loss(restored, clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        value = psnr(restored.detach(), clean)
        logger.defer(lambda step=step, value=value: print(step, value.item()))
    return net


torch.cuda.memory._record_memory_history(max_entries=100000)
logger = DeferredLogger()
net = train(logger)
torch.cuda.memory._dump_snapshot(sys.argv[1])
logger.flush()
