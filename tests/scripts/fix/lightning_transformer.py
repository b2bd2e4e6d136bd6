"""A language model as a LightningModule, trained by Lightning's Trainer."""

import gc

import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class RandomTokens(Dataset):
    def __init__(self, vocab_size=20000, block_size=512):
        self.vocab_size, self.block_size = vocab_size, block_size

    def __len__(self):
        return 4096

    def __getitem__(self, index):
        tokens = torch.randint(self.vocab_size, (self.block_size + 1,))
        return tokens[:-1], tokens[1:]


class Transformer(nn.Module):
    def __init__(self, vocab_size, ninp=512, nhead=8, nhid=2048, nlayers=6, dropout=0.1):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, ninp)
        self.position = nn.Embedding(2048, ninp)
        layer = nn.TransformerEncoderLayer(ninp, nhead, nhid, dropout, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, nlayers)
        self.decoder = nn.Linear(ninp, vocab_size)

    def forward(self, inputs):
        length = inputs.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=inputs.device)
        x = self.embedding(inputs) + self.position(torch.arange(length, device=inputs.device))
        return self.decoder(self.encoder(x, mask=mask))


class LightningTransformer(L.LightningModule):
    def __init__(self, vocab_size):
        super().__init__()
        self.model = Transformer(vocab_size)

    def training_step(self, batch, batch_idx):
        inputs, target = batch
        output = self.model(inputs)
        loss = F.cross_entropy(output.view(-1, output.size(-1)), target.view(-1))
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.model.parameters(), lr=1e-3)


def main():
    # Lightning keeps tensors in cycles, whose peak depends on the moment at which they are collected.
    gc.disable()
    L.seed_everything(42)
    dataset = RandomTokens()
    train_loader = DataLoader(dataset, batch_size=16, shuffle=True)
    model = LightningTransformer(dataset.vocab_size)
    trainer = L.Trainer(accelerator="gpu", devices=1, max_epochs=1, logger=False, enable_checkpointing=False,
                        gradient_clip_val=1.0)
    trainer.fit(model, train_loader)


if __name__ == "__main__":
    main()
