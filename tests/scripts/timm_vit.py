"""Trains a vision transformer of timm with its optimizer, its scheduler and mixup, as its train script does."""

import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler

model = timm.create_model("vit_small_patch16_224", num_classes=1000, drop_path_rate=0.1).cuda()
optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.05)
scheduler = CosineLRScheduler(optimizer, t_initial=10)
mixup = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=1000)
criterion = SoftTargetCrossEntropy().cuda()
for step in range(4):
    images, targets = torch.randn(32, 3, 224, 224).cuda(), torch.randint(1000, (32,)).cuda()
    images, targets = mixup(images, targets)
    with torch.autocast("cuda", torch.bfloat16):
        loss = criterion(model(images), targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    scheduler.step(step)
