"""A deep encoder with checkpointed blocks, for relation extraction."""
import sys
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.attention = None

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) / (d // self.heads) ** 0.5).softmax(-1)
        self.attention = weights[0, :, :1].detach().clone()
        x = x + self.proj((weights @ v).transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.norm2(x))


class Encoder(nn.Module):
    def __init__(self, vocab=5000, dim=192, depth=6):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList(Block(dim, 6) for _ in range(depth))
        self.head = nn.Linear(dim, 12)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)
        return self.head(x[:, 0])


torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
model = Encoder().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(7):
    ids = torch.randint(0, 5000, (8, 256)).cuda()
    relation = torch.randint(0, 12, (8,)).cuda()
    loss = nn.functional.cross_entropy(model(ids), relation)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(model.blocks[-1].attention.shape if model.blocks[-1].attention is not None else "done")
torch.cuda.memory._dump_snapshot(sys.argv[1])
