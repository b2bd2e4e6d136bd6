"""Character model that reads whole chapters; one update a chapter."""
import sys

import torch
from torch import nn

VOCAB, CHUNK, CHUNKS = 96, 64, 6


class CharModel(nn.Module):
    def __init__(self, hidden=384):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 128)
        self.lstm = nn.LSTM(128, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, VOCAB)

    def forward(self, ids, state):
        out, state = self.lstm(self.embed(ids), state)
        return self.head(out), state


def train_chapter(model, optimizer, text):
    state = None
    optimizer.zero_grad(set_to_none=True)
    total = 0.0
    for chunk, target in text:
        logits, state = model(chunk, state)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
        loss.backward()
        state = tuple(s.detach() for s in state)
        total += loss.item()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return total / CHUNKS


def chapter(batch=32):
    for _ in range(CHUNKS):
        ids = torch.randint(0, VOCAB, (batch, CHUNK + 1)).cuda()
        yield ids[:, :-1], ids[:, 1:]


def main():
    torch.cuda.memory._record_memory_history(max_entries=200000)
    model = CharModel().cuda()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    for number in range(3):
        print(number, train_chapter(model, optimizer, chapter()))
    torch.cuda.memory._dump_snapshot(sys.argv[1])


main()
