"""Trains an autoencoder by Lightning, as in its introduction, in bf16, with gradients of two batches."""

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class AutoEncoder(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(784, 2048), nn.ReLU(), nn.Linear(2048, 3))
        self.decoder = nn.Sequential(nn.Linear(3, 2048), nn.ReLU(), nn.Linear(2048, 784))

    def training_step(self, batch, index):
        (images,) = batch
        loss = nn.functional.mse_loss(self.decoder(self.encoder(images)), images)
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


options = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
trainer = lightning.Trainer(max_epochs=1, precision="bf16-mixed", accumulate_grad_batches=2, **options)
trainer.fit(AutoEncoder(), DataLoader(TensorDataset(torch.rand(512, 784)), 64))
