"""A VAE whose latent codes are collected for a plot."""
import sys
import torch
from torch import nn
import torch.nn.functional as F

torch.cuda.memory._record_memory_history(max_entries=100000)


class VAE(nn.Module):
    def __init__(self, pixels=4096, hidden=400, latent=1500):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, hidden), nn.ReLU())
        self.mu, self.logvar = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, pixels))

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.decoder(z), mu, logvar, z


def elbo(recon, x, mu, logvar):
    kld = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return F.mse_loss(recon, x) + kld


vae = VAE().cuda()
optimizer = torch.optim.Adam(vae.parameters(), lr=1e-3)
codes = {"train": [], "epoch": []}
for epoch in range(3):
    for _ in range(4):
        x = torch.rand(512, 4096).cuda()
        recon, mu, logvar, z = vae(x)
        loss = elbo(recon, x, mu, logvar)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        codes["train"].append(z.detach().cpu())
        codes["epoch"].append(epoch)
print(len(codes["train"]))
torch.cuda.memory._dump_snapshot(sys.argv[1])
