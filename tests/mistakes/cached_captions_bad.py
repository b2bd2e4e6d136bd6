"""Caption embeddings are cached, as the same captions come again."""
import functools
import sys
import torch
from torch import nn


class TextEncoder(nn.Module):
    def __init__(self, vocab=9000, dim=256):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layer = nn.TransformerEncoderLayer(dim, 4, 512, dropout=0.0, batch_first=True)

    def forward(self, ids):
        return self.layer(self.embed(ids))


torch.cuda.memory._record_memory_history(max_entries=100000)
text = TextEncoder().cuda().eval()
head = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).cuda()
optimizer = torch.optim.AdamW(head.parameters(), lr=1e-4)


@functools.lru_cache(maxsize=None)
def captions(batch):
    ids = torch.randint(0, 9000, (64, 48), device="cuda")
    with torch.no_grad():
        return text(ids)


def train_step(batch):
    tokens = captions(batch)
    image = torch.randn(64, 256, device="cuda")
    scores = nn.functional.normalize(head(image)) @ nn.functional.normalize(tokens.mean(1)).T
    loss = nn.functional.cross_entropy(scores * 20, torch.arange(64, device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


for batch in range(12):
    train_step(batch)
print(captions.cache_info())
torch.cuda.memory._dump_snapshot(sys.argv[1])
