"""Keypoint regression with accelerate."""
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from accelerate import Accelerator
from torchvision.models import mobilenet_v3_small


def loader(n, batch_size):
    data = TensorDataset(torch.rand(n, 3, 96, 96), torch.rand(n, 34))
    return DataLoader(data, batch_size=batch_size)


def train_one_epoch(accelerator, model, loader, optimizer):
    model.train()
    for images, points in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.smooth_l1_loss(model(images), points)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()


def evaluate(model, loader):
    model.eval()
    losses = []
    for images, points in loader:
        losses.append(nn.functional.smooth_l1_loss(model(images), points))
    return losses


def main():
    torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
    accelerator = Accelerator()
    model = mobilenet_v3_small(num_classes=34)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model, optimizer, train_loader, val_loader = accelerator.prepare(model, optimizer, loader(64, 32), loader(96, 32))
    curves = []
    for epoch in range(3):
        train_one_epoch(accelerator, model, train_loader, optimizer)
        curves.extend(evaluate(model, val_loader))
    accelerator.print(len(curves))
    torch.cuda.memory._dump_snapshot(sys.argv[1])


main()
