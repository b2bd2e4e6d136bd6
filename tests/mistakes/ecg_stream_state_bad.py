"""Streams an ECG through a recurrent detector, window by window."""
import sys
import torch
import torch.nn as nn


class Detector(nn.Module):
    def __init__(self, leads=12, width=256):
        super().__init__()
        self.stem = nn.Conv1d(leads, width, 9, stride=4, padding=4)
        self.gru = nn.GRU(width, width, 2, batch_first=True)
        self.head = nn.Linear(width, 5)

    def forward(self, window, hidden=None):
        features = self.stem(window).relu().transpose(1, 2)
        out, hidden = self.gru(features, hidden)
        return self.head(out), hidden


class Monitor:
    def __init__(self):
        self.net = Detector().cuda().eval()
        self.hidden = None

    def feed(self, window):
        beats, self.hidden = self.net(window.cuda(), self.hidden)
        return beats.argmax(-1).cpu()


torch.cuda.memory._record_memory_history(max_entries=200_000, stacks="python")
monitor = Monitor()
labels = []
for second in range(40):
    labels.append(monitor.feed(torch.randn(16, 12, 500)))
print(torch.cat(labels, 1).shape)
torch.cuda.memory._dump_snapshot(sys.argv[1])
