"""Times a single forward pass of a deep encoder."""
import sys
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim=320, heads=5):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.ffn = nn.Sequential(nn.Linear(dim, 4 * dim), nn.SiLU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        h = self.ln1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.ffn(self.ln2(x))


class Deep(nn.Module):
    def __init__(self, depth=20):
        super().__init__()
        self.embed = nn.Embedding(7000, 320)
        self.blocks = nn.ModuleList(Block() for _ in range(depth))
        self.out = nn.Linear(320, 7000)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.out(x)


model = Deep().to("cuda")
ids = torch.randint(0, 7000, (4, 256), device="cuda")
torch.cuda.memory._record_memory_history(max_entries=1_000_000)
start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
start.record()
logits = model(ids)
end.record()
torch.cuda.synchronize()
print(logits.shape)
torch.cuda.memory._dump_snapshot(sys.argv[1])
torch.cuda.memory._record_memory_history(enabled=None)
