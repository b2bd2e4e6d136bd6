"""A mixture of experts whose router is computed on the device: each expert takes the tokens that chose it."""

import torch
from torch import nn

tokens, width, experts, chosen = 4096, 512, 8, 2
router = nn.Linear(width, experts).cuda()
layers = nn.ModuleList(nn.Sequential(nn.Linear(width, 2048), nn.GELU(), nn.Linear(2048, width)) for _ in range(experts))
layers.cuda()
optimizer = torch.optim.AdamW([*router.parameters(), *layers.parameters()])
for step in range(3):
    x = torch.randn(tokens, width, device="cuda")
    weights, choices = router(x).softmax(-1).topk(chosen, -1)
    out = torch.zeros_like(x)
    taken = 0
    for number, layer in enumerate(layers):
        rows, places = torch.where(choices == number)
        taken += len(rows)
        out = out.index_add(0, rows, layer(x[rows]) * weights[rows, places, None])
    assert taken == tokens * chosen, taken
    out.square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
