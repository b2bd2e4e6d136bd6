"""Batches of random length from a DataLoader, the last one smaller."""
import random
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

random.seed(3)


class Utterances(Dataset):
    def __init__(self, n):
        self.rows = [torch.randint(1, 500, (random.randrange(60, 120),)) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def pad(rows):
    return nn.utils.rnn.pad_sequence(rows, batch_first=True)


class Model(nn.Module):
    def __init__(self, dim=256):
        super().__init__()
        self.embed = nn.Embedding(500, dim, padding_idx=0)
        self.layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, dropout=0.0, batch_first=True)
        self.head = nn.Linear(dim, 500)

    def forward(self, ids):
        return self.head(self.layer(self.embed(ids)))


torch.cuda.memory._record_memory_history(max_entries=100000)
model = Model().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
loader = DataLoader(Utterances(6 * 24 + 7), batch_size=24, collate_fn=pad)
for ids in loader:
    ids = ids.cuda()
    loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten(), ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(tuple(ids.shape), loss.item())
torch.cuda.memory._dump_snapshot(sys.argv[1])
