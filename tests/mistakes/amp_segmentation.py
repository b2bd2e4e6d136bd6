"""Semantic segmentation with autocast and a gradient scaler, losses logged as numbers."""
import sys
from collections import deque
import torch
from torch import nn
from torchvision.models.segmentation import lraspp_mobilenet_v3_large


class Meter:
    def __init__(self, window=20):
        self.values = deque(maxlen=window)

    def update(self, value):
        self.values.append(value)

    @property
    def mean(self):
        return sum(self.values) / len(self.values)


def main():
    torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
    model = lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=11).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda")
    meter = Meter()
    for step in range(5):
        images = torch.rand(4, 3, 128, 128).cuda()
        masks = torch.randint(0, 11, (4, 128, 128)).cuda()
        with torch.autocast(device_type="cuda", dtype=torch.float16):
            output = model(images)["out"]
            loss = nn.functional.cross_entropy(output, masks, ignore_index=255)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        meter.update(loss.item())
        print(step, meter.mean)
    torch.cuda.memory._dump_snapshot(sys.argv[1])


main()
