"""Checks how much one product of matrices takes."""
import sys
import torch


def probe(n):
    a = torch.randn(n, n, device="cuda")
    b = torch.randn(n, n, device="cuda")
    c = a @ b
    return c.shape


torch.cuda.memory._record_memory_history(max_entries=1000)
print(probe(1024))
print(torch.cuda.max_memory_allocated() // 2**20, "MiB")
torch.cuda.memory._dump_snapshot(sys.argv[1])
torch.cuda.memory._record_memory_history(enabled=None)
print("done")


def mib(count):
    return f"{count / 2**20:.1f} MiB"


print(mib(torch.cuda.memory_reserved()))
