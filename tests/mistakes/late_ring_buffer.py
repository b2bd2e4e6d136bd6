"""Records with a small ring, so that only the newest events are there."""
import sys
import torch
from torch import nn
from torchvision.models import regnet_y_400mf


def main():
    torch.cuda.memory._record_memory_history(max_entries=4000, stacks="python")
    model = regnet_y_400mf(num_classes=12).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(8):
        x = torch.randn(8, 3, 96, 96).cuda()
        y = torch.randint(0, 12, (8,)).cuda()
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(step, loss.item())
    torch.cuda.memory._dump_snapshot(sys.argv[1])


if __name__ == "__main__":
    main()
