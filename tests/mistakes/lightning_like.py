"""A hand-written loop in the way of Lightning: everything happens inside the closure."""
import sys
import torch
from torch import nn
from torch.nn import functional as F


class LitAutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 32, 3, 2, 1), nn.GELU(), nn.Conv2d(32, 64, 3, 2, 1), nn.GELU(), nn.Flatten(), nn.Linear(64 * 256, 64))
        self.decoder = nn.Sequential(nn.Linear(64, 64 * 256), nn.Unflatten(1, (64, 16, 16)), nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.GELU(), nn.ConvTranspose2d(32, 1, 4, 2, 1))
        self.logged = {}

    def log(self, name, value):
        self.logged[name] = value.detach()

    def training_step(self, batch, batch_idx):
        loss = F.mse_loss(self.decoder(self.encoder(batch)), batch)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", F.mse_loss(self.decoder(self.encoder(batch)), batch))


class Trainer:
    def __init__(self, max_epochs):
        self.max_epochs = max_epochs

    def fit(self, module, train, val):
        module.cuda()
        optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3)
        for epoch in range(self.max_epochs):
            for i, batch in enumerate(train):
                batch = batch.cuda()
                optimizer.step(lambda: self.closure(module, optimizer, batch, i))
            with torch.inference_mode():
                for i, batch in enumerate(val):
                    module.validation_step(batch.cuda(), i)

    def closure(self, module, optimizer, batch, i):
        loss = module.training_step(batch, i)
        optimizer.zero_grad()
        loss.backward()
        return loss.detach()


torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
module = LitAutoEncoder()
images = [torch.rand(32, 1, 64, 64) for _ in range(5)]
Trainer(max_epochs=2).fit(module, images[:4], images[4:])
print({k: v.item() for k, v in module.logged.items()})
torch.cuda.memory._dump_snapshot(sys.argv[1])
