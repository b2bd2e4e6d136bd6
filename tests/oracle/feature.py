"""What the features have in common: their table, and the recording of what they allocate."""

from dataclasses import dataclass
from typing import Any, Callable

import torch

import snapshots

MIB = 2**20
GIB = 2**30


@dataclass(frozen=True)
class Feature:
    """A thing that users do, tried in a process of its own."""

    run: Callable[[], None]
    """Does it, and asserts what must hold."""
    cards: str
    """The virtual GPUs that it finds."""
    settings: dict[str, str]
    """Further variables of its environment."""


FEATURES: dict[str, Feature] = {}


def feature(cards: str = "a100-80gb", **settings: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Puts a function into the table under its name."""

    def add(run: Callable[[], None]) -> Callable[[], None]:
        FEATURES[run.__name__] = Feature(run, cards, settings)
        return run

    return add


def start_recording() -> None:
    """Records allocations from here on, with Python's stacks."""
    torch.cuda.memory._record_memory_history(stacks="python")


def snapshot() -> dict[str, Any]:
    """The state of all devices and their events so far."""
    return torch.cuda.memory._snapshot()


def events(device: int = 0) -> list[snapshots.Event]:
    """A device's events since recording began."""
    return snapshots.events(snapshot(), device)


def actions(device: int = 0) -> list[str]:
    """The actions of a device's events since recording began."""
    return [event["action"] for event in events(device)]


def block(mebibytes: float, device: str = "cuda") -> torch.Tensor:
    """A tensor of this size."""
    return torch.empty(int(mebibytes * MIB), dtype=torch.uint8, device=device)


def message_of(error: type[Exception], run: Callable[[], object]) -> str:
    """The message of the exception that a call must end with."""
    try:
        run()
    except error as raised:
        return str(raised)
    raise AssertionError(f"no {error.__name__}")
