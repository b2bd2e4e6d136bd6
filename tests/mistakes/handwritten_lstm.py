"""An LSTM cell in a Python loop over time."""
import sys
import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self, vocab=200, hidden=256, classes=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, hidden)
        self.cell = nn.LSTMCell(hidden, hidden)
        self.out = nn.Linear(hidden, classes)

    def forward(self, ids):
        h = c = torch.zeros(len(ids), self.cell.hidden_size, device=ids.device)
        states = []
        for t in range(ids.shape[1]):
            h, c = self.cell(self.embed(ids[:, t]), (h, c))
            states.append(h)
        return self.out(torch.stack(states).amax(0))


torch.cuda.memory._record_memory_history(max_entries=100000)
reader = Reader().cuda()
optimizer = torch.optim.Adam(reader.parameters(), lr=1e-3)
for step in range(3):
    ids = torch.randint(0, 200, (128, 40)).cuda()
    y = torch.randint(0, 3, (128,)).cuda()
    loss = nn.functional.cross_entropy(reader(ids), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
torch.cuda.memory._dump_snapshot(sys.argv[1])
