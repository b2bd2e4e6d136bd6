"""Image-to-image GAN with a pool of earlier fakes for the discriminator."""
import random
import sys
import torch
from torch import nn


class ImagePool:
    def __init__(self, size=50):
        self.size = size
        self.images = []

    def query(self, fake):
        self.images.append(fake)
        self.images = self.images[-self.size :]
        return random.choice(self.images)


def conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.InstanceNorm2d(o), nn.ReLU())


torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
random.seed(1)
G = nn.Sequential(conv(3, 24), conv(24, 24), conv(24, 24), nn.Conv2d(24, 3, 3, padding=1), nn.Tanh()).cuda()
D = nn.Sequential(nn.Conv2d(3, 24, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(24, 48, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(48, 1, 4)).cuda()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
mse = nn.MSELoss()
pool = ImagePool()


def target(prediction, value):
    return torch.full_like(prediction, value)


for step in range(9):
    a, b = torch.rand(4, 3, 96, 96).cuda(), torch.rand(4, 3, 96, 96).cuda()
    fake_b = G(a)
    score = D(pool.query(fake_b).detach())
    real = D(b)
    loss_d = 0.5 * (mse(real, target(real, 1.0)) + mse(score, target(score, 0.0)))
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    if step % 2 == 0:
        score = D(fake_b)
        loss_g = mse(score, target(score, 1.0))
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
    del fake_b, score, real
torch.cuda.memory._dump_snapshot(sys.argv[1])
