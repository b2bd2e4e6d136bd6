"""Trains with accelerate, as in its quick tour; run it with accelerate launch."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(gradient_accumulation_steps=2, mixed_precision="bf16")
model = nn.Sequential(nn.Linear(256, 2048), nn.GELU(), nn.Linear(2048, 10))
optimizer = torch.optim.AdamW(model.parameters())
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 8)
data = TensorDataset(torch.randn(256, 256), torch.randint(0, 10, (256,)))
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, DataLoader(data, 16), scheduler)
right = 0
for inputs, targets in loader:
    with accelerator.accumulate(model):
        outputs = model(inputs)
        loss = nn.functional.cross_entropy(outputs, targets)
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
    guesses, truth = accelerator.gather_for_metrics((outputs.argmax(-1), targets))
    right += (guesses == truth).sum().item()
accelerator.print(f"loss {accelerator.gather(loss.detach()).mean().item():.3f}, {right} of 256 are right")
accelerator.end_training()
