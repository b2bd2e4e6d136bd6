"""Runs generated programs whose sizes depend on masks, forward and backward, and compares all sizes with the CPU's.

Autograd and checkpoints count a mask's elements again, in C++ or by repeating forward: each count has to be the first's.
"""

import random
import sys

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

PROGRAMS = int(sys.argv[1]) if len(sys.argv) > 1 else 300
ROWS, WIDTH = 24, 4


def masks(pick, device):
    """Returns a mask of rows, made in one of many ways from numbers of the host."""
    numbers = torch.arange(ROWS, device=device)
    listed = torch.tensor([pick.randrange(5) for _ in range(ROWS)], device=device)
    limit = pick.randrange(1, 5)
    made = pick.choice([
        lambda: listed < limit,
        lambda: (numbers % (limit + 1) == 0) | (listed > 2),
        lambda: ~(listed.ne(limit)),
        lambda: torch.ones(ROWS, dtype=torch.bool, device=device).logical_and(listed != 0),
        lambda: (listed[:, None] > numbers[:limit]).any(-1),
        lambda: torch.isin(listed, torch.tensor([0, limit], device=device)),
        lambda: torch.zeros(ROWS, dtype=torch.bool, device=device).index_fill_(0, listed.unique(), True),
        lambda: F.pad(listed[1:] > 0, (1, 0), value=True).view(2, -1).T.reshape(-1),
    ])()  # fmt: skip
    if pick.random() < 0.3:
        made[pick.randrange(ROWS)] = pick.random() < 0.5
    if pick.random() < 0.2:
        made.logical_not_()
    return made


class Squares(torch.autograd.Function):
    """Counts again in a backward of its own."""

    @staticmethod
    def forward(ctx, x, mask):
        ctx.save_for_backward(x, mask)
        return x[mask].square()

    @staticmethod
    def backward(ctx, gradient):
        x, mask = ctx.saved_tensors
        return torch.zeros_like(x).index_put((mask,), 2 * x[mask] * gradient), None


USES = [
    lambda x, m: x[m],
    lambda x, m: x[m][:, 1:],
    lambda x, m: x.view(2, -1, WIDTH)[m.view(2, -1)],
    lambda x, m: x[:, 0][m],
    lambda x, m: x[m, 1],
    lambda x, m: x[m.nonzero().squeeze(-1)],
    lambda x, m: x[torch.where(m)],
    lambda x, m: x.masked_select(m[:, None]),
    lambda x, m: torch.masked_select(x[:, 2], m),
    lambda x, m: x.index_select(0, m.nonzero()[:, 0]),
    lambda x, m: x.clone().index_put((m,), torch.zeros((), device=x.device)),
    lambda x, m: x.clone().index_put((m,), x[m] * 2),
    lambda x, m: x.masked_fill(~m[:, None], 0)[m],
    lambda x, m: x.new_zeros(x.shape).masked_scatter(m[:, None].expand(x.shape), x[m]),
    lambda x, m: x.repeat_interleave(m.long(), 0),
    lambda x, m: torch.repeat_interleave(x, m.long() + 1, dim=0)[: m.sum()],
    lambda x, m: F.one_hot(m.long().cumsum(0)).to(x.dtype).T @ x,
    lambda x, m: torch.split(x, [int(m.sum()), ROWS - int(m.sum())])[0],
    lambda x, m: torch.cat([part for part, keep in zip(x.unbind(), m) if keep] or [x[:0, 0]]),
    lambda x, m: F.embedding(m.long().cumsum(0) % ROWS, x)[m],
    lambda x, m: F.embedding(m.nonzero(), x),
    lambda x, m: x[m.argwhere()[:, 0].unique()],
    lambda x, m: torch.nested.nested_tensor([x[m], x[~m]], layout=torch.jagged).values(),
    lambda x, m: x.narrow(0, 0, int(m.count_nonzero())),
    lambda x, m: x.expand(1 + int(m.any()), *x.shape)[:, m],
    lambda x, m: Squares.apply(x, m),
]  # fmt: skip


def program(seed, device):
    """Returns the sizes that a program meets."""
    pick = random.Random(seed)
    x = torch.randn(ROWS, WIDTH, device=device, requires_grad=True)
    weight = torch.randn(WIDTH, WIDTH, device=device, requires_grad=True)
    mask = masks(pick, device)
    uses = pick.choices(USES, k=pick.randrange(1, 4))
    keeps = pick.choice(["all", "no", "reentrant", "on the host", "chosen again"])
    sizes = []

    def forward(x, mask):
        if keeps == "chosen again":
            # Repeated forward draws the same numbers.
            mask = mask & (torch.rand(ROWS, device=device) < 0.5)
        h = x @ weight
        parts = [use(h, mask) for use in uses]
        if keeps != "chosen again":
            sizes.append([tuple(part.shape) for part in parts])
        return sum(part.sum() for part in parts) + h.sum()

    if keeps in ("no", "chosen again"):
        loss = checkpoint(forward, x, mask, use_reentrant=False)
    elif keeps == "reentrant":
        loss = checkpoint(forward, x, mask, use_reentrant=True)
    elif keeps == "on the host":
        with torch.autograd.graph.save_on_cpu():
            loss = forward(x, mask)
    else:
        loss = forward(x, mask)
    loss.backward()
    return sizes, x.grad.shape, mask.tolist()


for seed in range(PROGRAMS):
    found, expected = program(seed, "cuda"), program(seed, "cpu")
    assert found == expected, f"program {seed}: {found} instead of {expected}"
print(f"all sizes of {PROGRAMS} programs are those of the CPU")
