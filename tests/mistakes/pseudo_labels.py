"""Predictions for pseudo labels are collected on the host."""
import sys
import torch
from torch import nn
from torchvision.models import resnet18

torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
device = torch.device("cuda", 0)
model = resnet18(num_classes=30).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.03)


@torch.inference_mode()
def label(batches):
    model.eval()
    rows = []
    for images in batches:
        probabilities = model(images.to(device)).softmax(1)
        confidence, guess = probabilities.max(1)
        rows.append((images, guess.cpu(), confidence.cpu()))
    model.train()
    return rows


unlabelled = [torch.rand(16, 3, 80, 80) for _ in range(3)]
for round_ in range(3):
    for images, guess, confidence in label(unlabelled):
        guess, confidence = guess.clone(), confidence.clone()
        scores = model(images.to(device))
        losses = nn.functional.cross_entropy(scores, guess.to(device), reduction="none")
        loss = (losses * confidence.to(device)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(round_, loss.item())
torch.cuda.memory._dump_snapshot(sys.argv[1])
