"""Compares what optimizers, clipping and the gradient scaler allocate with PyTorch's own, event by event.

usage: optimizers.py [WORD ...] [--keep FOLDER]

Trains a small `nn.Sequential` three steps in each of the ways below, or in those whose names have all words.
Prints a line for each; exit status 1 if an event of one is another or of another size.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from cases import Case, case
from compare import Comparison, compare

# Sizes that no two tensors share, so that each event names its tensor.
MODEL = {"family": "mlp", "input": 300, "hidden": [700, 500], "classes": 10}

IMPLEMENTATIONS = ["foreach", "fused", "for-loop"]

RULES: dict[str, dict[str, Any]] = {
    "SGD": {"kind": "sgd", "momentum": 0.0},
    "SGD, weight decay": {"kind": "sgd", "momentum": 0.0, "weight_decay": 0.01},
    "momentum": {"kind": "sgd", "momentum": 0.9},
    "momentum, weight decay": {"kind": "sgd", "momentum": 0.9, "weight_decay": 0.01},
    "Nesterov": {"kind": "sgd", "momentum": 0.9, "nesterov": True},
    "Nesterov, weight decay": {"kind": "sgd", "momentum": 0.9, "nesterov": True, "weight_decay": 0.01},
    "Adam": {"kind": "adam", "weight_decay": 0.0},
    "Adam, weight decay": {"kind": "adam", "weight_decay": 0.01},
    "AdamW": {"kind": "adamw"},
    "AdamW, no weight decay": {"kind": "adamw", "weight_decay": 0.0},
}

# What surrounds a step; each is tried with two of the rules.
SURROUNDINGS: dict[str, dict[str, Any]] = {
    "clipping": {"clip_grad_norm": 1.0},
    "gradients zeroed": {"set_to_none": False},
    "scaler": {"precision": "autocast-fp16"},
    "scaler, clipping": {"precision": "autocast-fp16", "clip_grad_norm": 1.0},
    "micro batches": {"accumulation": 2},
}


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(description="Compares optimizers with PyTorch's, event by event.")
    parser.add_argument("words", nargs="*", help="words of the names to run; all by default")
    parser.add_argument("--keep", type=Path, help="folder that the snapshots are left in")
    arguments = parser.parse_args()
    chosen = [case for case in cases() if all(word in case.name for word in arguments.words)]
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(max_workers=2) as pool:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        comparisons = list(pool.map(lambda case: compare(case, folder), chosen))
    equal = [print_line(comparison) for comparison in comparisons]
    print(f"{sum(equal)} of {len(equal)} have equal events")
    return 0 if all(equal) else 1


def cases() -> Iterator[Case]:
    """Every rule in every implementation, and two of them in every surrounding."""
    for implementation in IMPLEMENTATIONS:
        for rule in RULES:
            yield training(rule, implementation)
        for surrounding in SURROUNDINGS:
            for rule in ["momentum", "AdamW"]:
                yield training(rule, implementation, surrounding)


def training(rule: str, implementation: str, surrounding: str | None = None) -> Case:
    """One way to train the model."""
    name = f"{implementation}: {rule}" + (f", {surrounding}" if surrounding else "")
    optimizer = RULES[rule] | {"implementation": implementation}
    return case(name, "h100-80gb", MODEL, batch=64, optimizer=optimizer, **SURROUNDINGS.get(surrounding, {}))


def print_line(comparison: Comparison) -> bool:
    """Says whether both sides have the same events."""
    events, other = len(comparison.python.trace), comparison.first_other
    print(f"{comparison.case.name}: " + (f"{events} events" if other is None else f"event {other} is another"))
    return other is None


if __name__ == "__main__":
    sys.exit(main())
