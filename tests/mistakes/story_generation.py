"""Writes one long story with a decoder that has a cache of its own; the cache goes with the call."""
import sys
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, cache):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if "k" in cache:
            k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
        cache["k"], cache["v"] = k, v
        a = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=t > 1)
        return self.out(a.transpose(1, 2).reshape(b, t, d))


class Writer(nn.Module):
    def __init__(self, vocab=6000, dim=384, depth=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.attention = nn.ModuleList(Attention(dim, 6) for _ in range(depth))
        self.mlp = nn.ModuleList(nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim)) for _ in range(depth))

    def forward(self, ids, caches):
        x = self.embed(ids)
        for attention, mlp, cache in zip(self.attention, self.mlp, caches):
            x = x + attention(x, cache)
            x = x + mlp(x)
        return x[:, -1:] @ self.embed.weight.T


@torch.inference_mode()
def write(model, prompt, length):
    caches = [{} for _ in model.attention]
    story = [model(prompt, caches).argmax(-1)]
    while len(story) < length:
        story.append(model(story[-1], caches).argmax(-1))
    return torch.cat([prompt, *story], 1)


torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
model = Writer().cuda().bfloat16().eval()
print(write(model, torch.randint(0, 6000, (4, 200), device="cuda"), 90).shape)
torch.cuda.memory._dump_snapshot(sys.argv[1])
