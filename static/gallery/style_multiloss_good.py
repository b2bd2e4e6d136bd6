"""Image translation with three losses on one output."""
import sys
import torch
import torch.nn.functional as F
from torch import nn


class Translator(nn.Module):
    def __init__(self, w=32):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(3, w, 3, padding=1), nn.ReLU(), nn.Conv2d(w, w, 3, padding=1), nn.ReLU())
        self.mid = nn.Sequential(*[nn.Sequential(nn.Conv2d(w, w, 3, padding=1), nn.InstanceNorm2d(w), nn.ReLU()) for _ in range(3)])
        self.dec = nn.Conv2d(w, 3, 3, padding=1)

    def forward(self, x):
        return self.dec(self.mid(self.enc(x)))


def total_variation(x):
    return (x[..., 1:] - x[..., :-1]).abs().mean()


def gram(x):
    f = x.flatten(2)
    return f @ f.transpose(1, 2) / f.shape[-1]


torch.cuda.memory._record_memory_history(max_entries=100000)
net = Translator().cuda()
style = gram(torch.rand(4, 3, 128, 128, device="cuda"))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(8):
    content = torch.rand(4, 3, 128, 128, device="cuda")
    out = net(content)
    content_loss = F.mse_loss(out, content)
    style_loss = F.mse_loss(gram(out), style)
    tv_loss = total_variation(out)
    optimizer.zero_grad()
    (content_loss + style_loss + tv_loss).backward()
    optimizer.step()
    print(step, content_loss.item(), style_loss.item(), tv_loss.item())
torch.cuda.memory._dump_snapshot(sys.argv[1])
