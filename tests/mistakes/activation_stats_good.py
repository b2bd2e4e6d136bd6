"""Watches how the activations of a small ViT-like encoder drift during training."""
import sys
from collections import defaultdict
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, dim=256, depth=5, classes=16):
        super().__init__()
        self.embed = nn.Linear(192, dim)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(dim, 4, 2 * dim, dropout=0.0, batch_first=True, norm_first=True)
            for _ in range(depth)
        )
        self.head = nn.Linear(dim, classes)

    def forward(self, patches):
        x = self.embed(patches)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))


activations = defaultdict(list)


def watch(name):
    def hook(module, args, output):
        activations[name].append(output.detach().std().item())

    return hook


torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
model = Encoder().to("cuda")
for name, module in model.named_modules():
    if isinstance(module, nn.TransformerEncoderLayer):
        module.register_forward_hook(watch(name))

optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
criterion = nn.CrossEntropyLoss()
for step in range(10):
    patches = torch.randn(16, 100, 192, device="cuda")
    labels = torch.randint(0, 16, (16,), device="cuda")
    optimizer.zero_grad()
    loss = criterion(model(patches), labels)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()

for name, values in activations.items():
    print(name, len(values))
torch.cuda.memory._dump_snapshot(sys.argv[1])
