"""Names the versions of PyTorch and of the libraries that it sees, and uses the virtual GPU once."""

import torch


def row(name, value):
    print(f"{name:<10} {value}")


row("torch", torch.__version__)
row("CUDA", torch.version.cuda)
if torch.version.cuda is not None:
    row("cuDNN", torch.backends.cudnn.version())
    row("NCCL", ".".join(map(str, torch.cuda.nccl.version())) if torch.distributed.is_nccl_available() else None)
    for index in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(index)
        row(f"GPU {index}", f"{properties.name}, {properties.total_memory / 2**30:.1f} GiB")
    weight = torch.nn.Linear(64, 64).cuda()
    weight(torch.ones(8, 64, device="cuda")).sum().backward()
    torch.cuda.synchronize()
