"""On-policy training with a rollout buffer (grid world with pixel observations)."""
import sys
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Rollout:
    obs: list = field(default_factory=list)
    actions: list = field(default_factory=list)
    values: list = field(default_factory=list)

    def add(self, obs, action, value):
        self.obs.append(obs)
        self.actions.append(action)
        self.values.append(value)

    def reset(self):
        self.obs, self.actions, self.values = [], [], []


class ActorCritic(nn.Module):
    def __init__(self, actions=5):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 5, 2), nn.ReLU(), nn.Conv2d(16, 32, 5, 2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(128))
        self.pi, self.v = nn.Linear(128, actions), nn.Linear(128, 1)

    def forward(self, obs):
        h = self.body(obs).relu()
        return self.pi(h), self.v(h)


torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
agent = ActorCritic().cuda()
agent(torch.zeros(1, 3, 56, 56).cuda())
optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4)
rollout = Rollout()
HORIZON = 8
for iteration in range(7):
    for t in range(HORIZON):
        obs = torch.rand(32, 3, 56, 56).cuda()
        with torch.no_grad():
            logits, value = agent(obs)
        rollout.add(obs, logits.argmax(-1), value.squeeze(-1))
    obs = torch.cat(rollout.obs[-HORIZON:])
    actions = torch.cat(rollout.actions[-HORIZON:])
    returns = torch.cat(rollout.values[-HORIZON:]) * 0.99
    logits, value = agent(obs)
    loss = nn.functional.cross_entropy(logits, actions) + (value.squeeze(-1) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del obs, logits, value, loss
print(iteration, len(rollout.obs))
torch.cuda.memory._dump_snapshot(sys.argv[1])
