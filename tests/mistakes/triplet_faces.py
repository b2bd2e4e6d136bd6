"""Triplet loss: three forward passes belong to one backward."""
import sys
import torch
from torch import nn
from torchvision.models import mobilenet_v3_small


def embed(model, images):
    return nn.functional.normalize(model(images), dim=1)


def main():
    torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
    model = mobilenet_v3_small(num_classes=128).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    triplet = nn.TripletMarginLoss(margin=0.3)
    for step in range(4):
        anchor, positive, negative = (torch.rand(8, 3, 96, 96).cuda() for _ in range(3))
        loss = triplet(embed(model, anchor), embed(model, positive), embed(model, negative))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
    torch.cuda.memory._dump_snapshot(sys.argv[1])


if __name__ == "__main__":
    main()
