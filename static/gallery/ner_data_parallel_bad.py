"""Named entities on three cards with nn.DataParallel."""
import sys
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, vocab=8000, dim=192, tags=3000):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, tags)
        self.loss = nn.CrossEntropyLoss()

    def forward(self, ids, tags):
        h, _ = self.rnn(self.embed(ids))
        return self.head(h)


def main():
    torch.cuda.memory._record_memory_history(max_entries=100000)
    model = nn.DataParallel(Tagger().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(6):
        ids = torch.randint(0, 8000, (48, 100)).cuda()
        tags = torch.randint(0, 3000, (48, 100)).cuda()
        optimizer.zero_grad()
        logits = model(ids, tags)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tags.flatten())
        loss.backward()
        optimizer.step()
        print(step, loss.item())
    torch.cuda.memory._dump_snapshot(sys.argv[1])


main()
