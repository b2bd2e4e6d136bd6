"""What the groups of operations have in common: their table, and the checks in them."""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

KIB = 2**10
MIB = 2**20


@dataclass(frozen=True)
class Group:
    """Operations that are tried in one process."""

    run: Callable[[], None]
    """Tries them, one check after the other."""
    cards: str
    """The virtual GPUs that it finds."""
    settings: dict[str, str]
    """Further variables of its environment."""


@dataclass
class Outcome:
    """How a check went."""

    name: str
    error: str | None = None


GROUPS: dict[str, Group] = {}
outcomes: list[Outcome] = []


def group(
    cards: str = "a100-80gb", name: str | None = None, **settings: str
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Puts a function into the table, under its name if no other is given."""

    def add(run: Callable[[], None]) -> Callable[[], None]:
        GROUPS[name or run.__name__] = Group(run, cards, settings)
        return run

    return add


@contextmanager
def check(name: str) -> Iterator[None]:
    """Tries one operation; what it raises is noted, and the group goes on."""
    outcome = Outcome(name)
    outcomes.append(outcome)
    try:
        yield
        torch.cuda.synchronize()
    except Exception as error:  # Whatever it is, the next operation is worth trying.
        line = traceback.extract_tb(error.__traceback__)[-1]
        outcome.error = f"{type(error).__name__}: {error} ({line.name}, line {line.lineno})"


def rounded(size_bytes: int) -> int:
    """The bytes that PyTorch's allocator takes for a tensor."""
    return -(-size_bytes // 512) * 512


def size_of(*tensors: torch.Tensor) -> int:
    """The bytes that the allocator takes for these tensors together."""
    return sum(rounded(tensor.untyped_storage().nbytes()) for tensor in tensors)


def peak_of(run: Callable[[], object]) -> int:
    """The bytes that a call takes at its peak, beyond those in use before."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    kept = run()
    peak = torch.cuda.max_memory_allocated() - before
    del kept
    return peak


def expect(actual: object, expected: object, what: str = "bytes") -> None:
    """Fails with both values where they differ."""
    if actual != expected:
        raise AssertionError(f"{what}: {actual}, expected {expected}")
