"""Headline classifier; the average loss is printed at the end of each epoch."""
import sys
import torch
from torch import nn


class Headlines(nn.Module):
    def __init__(self, vocab=10000, dim=128):
        super().__init__()
        self.embed = nn.EmbeddingBag(vocab, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 512), nn.ReLU(), nn.Dropout(0.2), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 4))

    def forward(self, ids):
        return self.mlp(self.embed(ids))


def main():
    torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
    model = Headlines().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(2):
        running_loss = 0.0
        for batch in range(6):
            ids = torch.randint(0, 10000, (1024, 16)).cuda()
            labels = torch.randint(0, 4, (1024,)).cuda()
            optimizer.zero_grad()
            loss = criterion(model(ids), labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        print(f"epoch {epoch}: {running_loss / 6}")
    torch.cuda.memory._dump_snapshot(sys.argv[1])


main()
