"""Truncated backpropagation through time on weather series."""
import sys
import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, inputs=20, hidden=320):
        super().__init__()
        self.rnn = nn.LSTM(inputs, hidden, 2, batch_first=True)
        self.head = nn.Linear(hidden, inputs)

    def forward(self, x, state=None):
        out, state = self.rnn(x, state)
        return self.head(out), state


def repackage(state):
    return tuple(s.detach() for s in state)


torch.cuda.memory._record_memory_history(max_entries=100000)
model = Forecaster().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
series = torch.randn(48, 12 * 50 + 1, 20)
state, losses = None, []
for window in range(12):
    x = series[:, window * 50 : window * 50 + 50].cuda()
    y = series[:, window * 50 + 1 : window * 50 + 51].cuda()
    if state is not None:
        state = repackage(state)
    prediction, state = model(x, state)
    loss = nn.functional.l1_loss(prediction, y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    losses.append(loss.detach().cpu())
print(torch.stack(losses).shape)
torch.cuda.memory._dump_snapshot(sys.argv[1])
