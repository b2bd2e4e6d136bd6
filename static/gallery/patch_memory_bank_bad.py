"""Anomaly detection in the style of PatchCore: a bank of normal patches."""
import sys
import torch
from torch import nn
from torchvision.models import resnet18

torch.cuda.memory._record_memory_history(max_entries=100000)


class PatchFeatures(nn.Module):
    def __init__(self):
        super().__init__()
        net = resnet18()
        self.stem = nn.Sequential(net.conv1, net.bn1, net.relu, net.maxpool, net.layer1, net.layer2)

    def forward(self, x):
        f = self.stem(x)
        return f.permute(0, 2, 3, 1).reshape(-1, f.shape[1])


class Bank:
    def __init__(self, dim=128):
        self.patches = torch.empty(0, dim, device="cuda")

    def add(self, features):
        self.patches = torch.cat([self.patches, features])

    def __len__(self):
        return len(self.patches)


extractor = PatchFeatures().cuda().eval()
bank = Bank()
with torch.no_grad():
    for i in range(12):
        images = torch.rand(16, 3, 160, 160, device="cuda")
        bank.add(extractor(images))
print("bank of", len(bank))
torch.cuda.memory._dump_snapshot(sys.argv[1])
