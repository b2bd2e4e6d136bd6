"""Video clips are staged on the card while the model trains."""
import sys
import queue
import torch
from torch import nn


class ClipStager:
    """Puts a few clips on the device before they are needed."""

    def __init__(self, source, ahead=3):
        self.source = source
        self.ahead = ahead
        self.ready = queue.Queue()

    def stage(self):
        for _ in range(self.ahead):
            clip, label = next(self.source)
            self.ready.put((clip.to("cuda", non_blocking=True), label.to("cuda", non_blocking=True)))

    def get(self):
        self.stage()
        return self.ready.get()


def clips():
    while True:
        yield torch.rand(4, 3, 8, 64, 64), torch.randint(0, 30, (4,))


class VideoNet(nn.Module):
    def __init__(self, classes=30):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv3d(3, 24, 3, padding=1), nn.ReLU(), nn.MaxPool3d(2), nn.Conv3d(24, 48, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool3d(2))
        self.fc = nn.Linear(48 * 8, classes)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
net = VideoNet().cuda()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
stager = ClipStager(clips())
scaler = torch.amp.GradScaler("cuda")
for i in range(11):
    x, y = stager.get()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
torch.cuda.memory._dump_snapshot(sys.argv[1])
