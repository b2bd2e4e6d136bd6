"""Five steps through the libraries that training needs; prints versions, events and peaks."""

import json

import torch


def step(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """One training step, in bfloat16 where autocast says so."""
    images, labels = torch.randn(8, 3, 32, 32, device="cuda"), torch.randint(0, 10, (8,)).cuda()
    with torch.autocast("cuda", torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()


def others() -> None:
    """What training calls less often, of each of the libraries."""
    query = torch.randn(2, 8, 128, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    torch.nn.functional.scaled_dot_product_attention(query, query, query, is_causal=True).sum().backward()
    torch.nn.LSTM(32, 64).cuda()(torch.randn(10, 4, 32, device="cuda"))[0].sum().backward()
    square = torch.eye(16, device="cuda")
    torch.linalg.eigh(square), torch.linalg.svd(square), torch.linalg.solve(square, square), torch.linalg.qr(square)
    (
        torch.fft.rfft(torch.randn(64, device="cuda")),
        torch.randn(4096, device="cuda").sort(),
        torch.randperm(100, device="cuda"),
    )
    torch.sparse.mm(square.to_sparse(), square)


torch.cuda.memory._record_memory_history()
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 64, 3), torch.nn.BatchNorm2d(64), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4),
    torch.nn.Flatten(), torch.nn.Linear(1024, 512), torch.nn.GELU(), torch.nn.Linear(512, 10),
).cuda()  # fmt: skip
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for _ in range(5):
    step(model, optimizer)
others()
torch.cuda.synchronize()
events = sum(len(trace) for trace in torch.cuda.memory._snapshot()["device_traces"])
print(
    json.dumps(
        {
            "torch": torch.__version__,
            "cuDNN": torch.backends.cudnn.version(),
            "NCCL": ".".join(map(str, torch.cuda.nccl.version())),
            "events": events,
            "peak": torch.cuda.max_memory_allocated(),
        }
    )
)
