"""Summaries of documents whose length differs from batch to batch."""
import random
import sys
import torch
from torch import nn

random.seed(7)


class Summarizer(nn.Module):
    def __init__(self, vocab=3000, dim=256, depth=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 4 * dim, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids)))


def lengths(steps):
    length = 300
    for _ in range(steps):
        yield length + random.randrange(0, 40)
        length += 90


torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
model = Summarizer().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for length in lengths(10):
    ids = torch.randint(0, 3000, (24, length), device="cuda")
    optimizer.zero_grad()
    logits = model(ids)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten())
    loss.backward()
    optimizer.step()
    del logits, loss
print(torch.cuda.max_memory_allocated() >> 20, torch.cuda.memory_reserved() >> 20)
torch.cuda.memory._dump_snapshot(sys.argv[1])
