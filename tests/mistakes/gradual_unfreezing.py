"""Transfer learning: one more layer group is trained in each epoch."""
import sys
import torch
from torch import nn
from torchvision.models import resnet18


def groups(model):
    return [model.fc, model.layer4, model.layer3, model.layer2, model.layer1]


def epoch(model, optimizer, steps=2):
    for _ in range(steps):
        x = torch.randn(16, 3, 96, 96, device="cuda")
        y = torch.randint(0, 37, (16,), device="cuda")
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    torch.cuda.memory._record_memory_history(max_entries=200000, stacks="python")
    model = resnet18(num_classes=37).cuda().requires_grad_(False)
    optimizer = None
    for number, group in enumerate(groups(model)):
        group.requires_grad_(True)
        parameters = list(group.parameters())
        if optimizer is None:
            optimizer = torch.optim.AdamW(parameters, lr=1e-3)
        else:
            optimizer.add_param_group({"params": parameters, "lr": 1e-3 / 2**number})
        print(number, epoch(model, optimizer))
    torch.cuda.memory._dump_snapshot(sys.argv[1])


main()
