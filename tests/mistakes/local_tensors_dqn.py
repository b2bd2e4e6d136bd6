"""Double DQN; everything of an update is a local of one function."""
import random
import sys
import torch
from torch import nn

torch.cuda.memory._record_memory_history(max_entries=100000)
device = "cuda"
actions = 4


def q_network():
    return nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, actions)).to(device)


online, target = q_network(), q_network()
target.load_state_dict(online.state_dict())
optimizer = torch.optim.Adam(online.parameters(), lr=1e-4)
memory = [(torch.randn(128), random.randrange(actions), random.random(), torch.randn(128)) for _ in range(600)]


def learn():
    rows = random.sample(memory, 512)
    states = torch.stack([r[0] for r in rows]).to(device)
    chosen = torch.tensor([r[1] for r in rows], device=device)
    rewards = torch.tensor([r[2] for r in rows], device=device)
    following = torch.stack([r[3] for r in rows]).to(device)
    with torch.no_grad():
        best = online(following).argmax(1, keepdim=True)
        value = rewards + 0.99 * target(following).gather(1, best).squeeze(1)
    q = online(states).gather(1, chosen[:, None]).squeeze(1)
    loss = nn.functional.smooth_l1_loss(q, value)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(online.parameters(), 100)
    optimizer.step()
    return loss.item()


for i in range(12):
    learn()
    if i % 4 == 3:
        target.load_state_dict(online.state_dict())
torch.cuda.memory._dump_snapshot(sys.argv[1])
