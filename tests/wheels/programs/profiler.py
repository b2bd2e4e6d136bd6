"""PyTorch's profiler with CUDA activities."""

import torch
from torch.profiler import ProfilerActivity, profile

with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True) as found:
    torch.randn(256, 256, device="cuda").mm(torch.randn(256, 256, device="cuda")).sum().item()
assert any(event.key == "aten::mm" for event in found.key_averages())
