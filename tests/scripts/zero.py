"""Trains by DeepSpeed's ZeRO of the stage that is named, as in its getting started; run it by deepspeed or torchrun."""

import argparse

import deepspeed
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--stage", type=int, default=3)
parser.add_argument("--local_rank", type=int)
config = {
    "train_micro_batch_size_per_gpu": 8,
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": True}},
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": parser.parse_args().stage},
}
model = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(8)])
engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
for _ in range(3):
    inputs = torch.randn(8, 1024, device=engine.device, dtype=torch.bfloat16)
    loss = engine(inputs).float().pow(2).mean()
    engine.backward(loss)
    engine.step()
