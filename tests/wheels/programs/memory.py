"""An allocation that does not fit; PyTorch's message has the driver's and NVML's figures."""

import torch

kept = torch.empty(10 << 30, dtype=torch.uint8, device="cuda")
try:
    torch.empty(10 << 30, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as error:
    assert "Tried to allocate 10.00 GiB" in str(error) and "this process has 10.50 GiB memory in use" in str(error), (
        error
    )
else:
    raise AssertionError("14.6 GiB cannot hold 20 GiB")
