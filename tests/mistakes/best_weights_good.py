import sys
from copy import deepcopy
import torch
from torch import nn
from torchvision.models import squeezenet1_1

torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")


class EarlyStopping:
    def __init__(self, patience=5):
        self.patience = patience
        self.best = None
        self.waited = 0
        self.weights = []

    def __call__(self, value, model):
        if self.best is None or value <= self.best:
            self.best, self.waited = value, 0
            self.weights = [{k: v.detach().cpu().clone() for k, v in model.state_dict().items()}]
        else:
            self.waited += 1
        return self.waited >= self.patience


device = torch.device("cuda:0")
model = squeezenet1_1(num_classes=40).to(device)
opt = torch.optim.AdamW(model.parameters(), lr=4e-4, weight_decay=1e-2)
stopper = EarlyStopping()
for epoch in range(7):
    model.train()
    for _ in range(2):
        x = torch.randn(12, 3, 128, 128, device=device)
        y = torch.randint(0, 40, (12,), device=device)
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
    with torch.no_grad():
        model.eval()
        held_out = nn.functional.cross_entropy(model(x), y).item()
    if stopper(held_out, model):
        break
model.load_state_dict(stopper.weights[-1])
torch.cuda.memory._dump_snapshot(sys.argv[1])
