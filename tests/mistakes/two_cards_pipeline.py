"""A model in two halves on two cards."""
import sys
import torch
from torch import nn


class TwoHalves(nn.Module):
    def __init__(self, width=768):
        super().__init__()
        self.first = nn.Sequential(*[nn.Sequential(nn.Linear(width, width), nn.GELU()) for _ in range(5)]).to("cuda:0")
        self.second = nn.Sequential(*[nn.Sequential(nn.Linear(width, width), nn.GELU()) for _ in range(5)], nn.Linear(width, 100)).to("cuda:1")

    def forward(self, x):
        return self.second(self.first(x.to("cuda:0")).to("cuda:1"))


def main():
    torch.cuda.memory._record_memory_history(max_entries=100000)
    model = TwoHalves()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(7):
        x = torch.randn(512, 768)
        y = torch.randint(0, 100, (512,)).to("cuda:1")
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        print(step, loss.item())
    torch.cuda.memory._dump_snapshot(sys.argv[1])


main()
