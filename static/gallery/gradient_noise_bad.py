"""Measures the gradient noise scale while a small mixer trains."""
import sys
import torch
from torch import nn


class MixerBlock(nn.Module):
    def __init__(self, tokens, dim):
        super().__init__()
        self.token = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim))
        self.channel = nn.Sequential(nn.LayerNorm(tokens), nn.Linear(tokens, tokens), nn.GELU())

    def forward(self, x):
        x = x + self.channel(x.transpose(1, 2)).transpose(1, 2)
        return x + self.token(x)


class NoiseScale:
    def __init__(self, model):
        self.params = [p for p in model.parameters() if p.requires_grad]
        self.history = []

    def record(self):
        self.history.append([p.grad.detach().clone() for p in self.params])

    def __len__(self):
        return len(self.history)


def main():
    torch.cuda.memory._record_memory_history(max_entries=150000)
    model = nn.Sequential(nn.Linear(48, 384), *[MixerBlock(64, 384) for _ in range(3)], nn.Flatten(), nn.Linear(64 * 384, 10)).cuda()
    noise = NoiseScale(model)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(8):
        x, y = torch.randn(32, 64, 48).cuda(), torch.randint(0, 10, (32,)).cuda()
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        noise.record()
        opt.step()
    print("recorded", len(noise))
    torch.cuda.memory._dump_snapshot(sys.argv[1])


if __name__ == "__main__":
    main()
