"""Features of a frozen backbone are computed once and kept on purpose, then a head is trained on them."""
import sys
import torch
from torch import nn
from torchvision.models import shufflenet_v2_x0_5


@torch.no_grad()
def extract(backbone, batches):
    features = []
    for _ in range(batches):
        features.append(backbone(torch.rand(16, 3, 96, 96).cuda()))
    return torch.cat(features)


def train_head(features, epochs=4, batch=64):
    head = nn.Sequential(nn.Linear(features.shape[1], 256), nn.ReLU(), nn.Linear(256, 6)).cuda()
    labels = torch.randint(0, 6, (len(features),), device="cuda")
    optimizer = torch.optim.AdamW(head.parameters(), lr=1e-3)
    for _ in range(epochs):
        for i in range(0, len(features), batch):
            loss = nn.functional.cross_entropy(head(features[i : i + batch]), labels[i : i + batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return head


torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
backbone = shufflenet_v2_x0_5()
backbone.fc = nn.Identity()
backbone = backbone.cuda().eval()
features = extract(backbone, 8)
head = train_head(features)
print(features.shape)
torch.cuda.memory._dump_snapshot(sys.argv[1])
