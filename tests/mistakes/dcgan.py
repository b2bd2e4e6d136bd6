"""DCGAN with two optimizers."""
import sys
import torch
from torch import nn

nz, ngf, ndf = 100, 32, 32

netG = nn.Sequential(
    nn.ConvTranspose2d(nz, ngf * 4, 4, 1, 0, bias=False), nn.BatchNorm2d(ngf * 4), nn.ReLU(True),
    nn.ConvTranspose2d(ngf * 4, ngf * 2, 4, 2, 1, bias=False), nn.BatchNorm2d(ngf * 2), nn.ReLU(True),
    nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False), nn.BatchNorm2d(ngf), nn.ReLU(True),
    nn.ConvTranspose2d(ngf, 3, 4, 2, 1, bias=False), nn.Tanh(),
)
netD = nn.Sequential(
    nn.Conv2d(3, ndf, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False), nn.BatchNorm2d(ndf * 2), nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(ndf * 2, 1, 8, 1, 0, bias=False), nn.Flatten(0),
)
torch.cuda.memory._record_memory_history(max_entries=100000)
netG.cuda()
netD.cuda()
criterion = nn.BCEWithLogitsLoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
fixed_noise = torch.randn(32, nz, 1, 1, device="cuda")
g_losses, d_losses = [], []
for i in range(8):
    netD.zero_grad()
    real = torch.rand(64, 3, 32, 32).to("cuda")
    ones, zeros = torch.ones(64, device="cuda"), torch.zeros(64, device="cuda")
    errD_real = criterion(netD(real), ones)
    errD_real.backward()
    fake = netG(torch.randn(64, nz, 1, 1, device="cuda"))
    errD_fake = criterion(netD(fake.detach()), zeros)
    errD_fake.backward()
    optimizerD.step()
    netG.zero_grad()
    errG = criterion(netD(fake), ones)
    errG.backward()
    optimizerG.step()
    g_losses.append(errG.item())
    d_losses.append((errD_real + errD_fake).item())
with torch.no_grad():
    print(netG(fixed_noise).cpu().shape, len(g_losses))
torch.cuda.memory._dump_snapshot(sys.argv[1])
