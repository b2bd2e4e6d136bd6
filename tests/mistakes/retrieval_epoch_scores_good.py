"""Two-tower retrieval; recall is computed over a whole epoch of scores."""
import sys
import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, items=20000, dim=128):
        super().__init__()
        self.bag = nn.EmbeddingBag(items, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 256), nn.ReLU(), nn.Linear(256, dim))

    def forward(self, ids):
        return nn.functional.normalize(self.mlp(self.bag(ids)), dim=-1)


user_tower, item_tower = Tower().cuda(), Tower().cuda()
params = [*user_tower.parameters(), *item_tower.parameters()]
torch.cuda.memory._record_memory_history(max_entries=100000)
optimizer = torch.optim.Adagrad(params, lr=0.05)
catalogue = torch.randint(0, 20000, (6000, 8)).cuda()


def train(batches):
    for _ in range(batches):
        users = torch.randint(0, 20000, (256, 20)).cuda()
        items = torch.randint(0, 20000, (256, 8)).cuda()
        scores = user_tower(users) @ item_tower(items).T / 0.07
        loss = nn.functional.cross_entropy(scores, torch.arange(256, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def recall_at(k, batches):
    item_vectors = item_tower(catalogue)
    hits = 0
    for _ in range(batches):
        users = torch.randint(0, 20000, (512, 20)).cuda()
        scores = user_tower(users) @ item_vectors.T
        target = torch.randint(0, 6000, (512,)).cuda()
        hits += (scores.topk(k).indices == target[:, None]).sum().item()
    return hits / (512 * batches)


for epoch in range(4):
    train(4)
    print(epoch, recall_at(20, 10))
torch.cuda.memory._dump_snapshot(sys.argv[1])
