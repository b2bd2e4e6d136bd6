"""A CUDA graph of a training step, captured and replayed."""

import torch

model = torch.nn.Linear(256, 256).cuda()
optimizer = torch.optim.AdamW(model.parameters(), capturable=True)
data = torch.randn(32, 256, device="cuda")


def step() -> None:
    """A step whose memory the graph keeps."""
    optimizer.zero_grad(set_to_none=True)
    model(data).sum().backward()
    optimizer.step()


side = torch.cuda.Stream()
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
for _ in range(10):
    graph.replay()
assert any(tuple(segment["segment_pool_id"]) != (0, 0) for segment in torch.cuda.memory._snapshot()["segments"])
