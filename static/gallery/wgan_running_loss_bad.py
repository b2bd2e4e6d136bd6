"""WGAN on 32x32 images; the critic's and generator's losses are added up for the log."""
import sys
import torch
from torch import nn

Z = 64


def generator():
    return nn.Sequential(nn.ConvTranspose2d(Z, 64, 8), nn.ReLU(), nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(32, 3, 4, 2, 1), nn.Tanh())


def critic():
    return nn.Sequential(nn.Conv2d(3, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(64 * 64, 1))


torch.cuda.memory._record_memory_history(max_entries=100000)
G, C = generator().cuda(), critic().cuda()
opt_g = torch.optim.RMSprop(G.parameters(), lr=5e-5)
opt_c = torch.optim.RMSprop(C.parameters(), lr=5e-5)
wasserstein = 0
for step in range(9):
    real = torch.rand(96, 3, 32, 32).cuda()
    fake = G(torch.randn(96, Z, 1, 1, device="cuda"))
    loss_c = C(fake.detach()).mean() - C(real).mean()
    opt_c.zero_grad()
    loss_c.backward()
    opt_c.step()
    for p in C.parameters():
        p.data.clamp_(-0.01, 0.01)
    wasserstein += C(real).mean() - C(fake).mean()
    if step % 3 == 0:
        loss_g = -C(G(torch.randn(96, Z, 1, 1, device="cuda"))).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
print("estimate", (wasserstein / 9).item())
torch.cuda.memory._dump_snapshot(sys.argv[1])
