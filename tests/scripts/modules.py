"""Makes modules and optimizers of many kinds on the device; tensors with known values must not get into their way."""

import copy
import io

import torch
from torch import nn

scale = nn.Parameter(torch.tensor(0.5, device="cuda"))
weight = nn.Parameter(torch.ones(8, device="cuda"))
with torch.device("cuda"):
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.LayerNorm(8))
parameters = [scale, weight, *model.parameters()]
assert {type(parameter) for parameter in parameters} == {nn.Parameter}
assert all(tensor.is_cuda for tensor in (*parameters, *model.buffers()))

for options in ({"fused": True}, {"capturable": True}, {"foreach": True}, {"foreach": False}):
    optimizer = torch.optim.AdamW(parameters, **options)
    for step in range(3):
        (model(torch.randn(4, 8, device="cuda")) * weight * scale).sum().backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad()
assert model[1].num_batches_tracked.item() == 12

copied = copy.deepcopy(model)
copied.load_state_dict(model.state_dict())
saved = io.BytesIO()
torch.save([model.state_dict(), torch.arange(3, device="cuda")], saved)
saved.seek(0)
assert type(torch.load(saved, weights_only=True)[1]) is torch.Tensor

scaler = torch.amp.GradScaler("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with torch.autocast("cuda"):
    loss = model(torch.randn(4, 8, device="cuda")).sum()
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()

still = torch.zeros(4, dtype=torch.long, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    doubled = still * 2
still.copy_(torch.arange(4))
graph.replay()
assert still.tolist() == [0, 1, 2, 3]

number = torch.tensor(5, device="cuda")
assert torch.tensor([number, number]).tolist() == [5, 5]
assert torch.zeros(number, 2).shape == torch.ones(10, 2)[:number].shape == (5, 2)
print("all modules are as without the hook")
