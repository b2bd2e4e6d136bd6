"""A compiled training step: Inductor writes kernels, and Triton compiles them."""

import torch

model = torch.compile(torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.GELU(), torch.nn.Linear(256, 128)).cuda())
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    model(torch.randn(16, 128, device="cuda")).pow(2).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
