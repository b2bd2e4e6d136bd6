"""Tells the experiment trackers of this process about a snapshot."""

from __future__ import annotations

import gc
import sys

from .notices import tried

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def tell(figures: dict[str, float], step: int, snapshot: str) -> None:
    """Logs figures and the path of a snapshot wherever the program logs already; nothing is imported or begun here."""
    named = {f"snapscope/{name}": value for name, value in figures.items()}
    for name, log in _LOGS.items():
        library = sys.modules.get(name)
        if library is not None:
            tried(None, log, library, named, step, snapshot)


def is_any() -> bool:
    """Returns true if the program has a tracker."""
    return any(name in sys.modules for name in _LOGS)


def _wandb(wandb: Any, figures: dict[str, float], step: int, snapshot: str) -> None:
    # The summary, since a row of the history would move the program's own steps.
    if getattr(wandb, "run", None) is not None:
        wandb.run.summary.update({**figures, "snapscope/snapshot": snapshot})


def _trackio(trackio: Any, figures: dict[str, float], step: int, snapshot: str) -> None:
    run = sys.modules["trackio.context_vars"].current_run.get()
    if run is not None:
        run.log({**figures, "snapscope/snapshot": snapshot})


def _mlflow(mlflow: Any, figures: dict[str, float], step: int, snapshot: str) -> None:
    if mlflow.active_run() is not None:
        mlflow.log_metrics(figures, step=step)
        mlflow.set_tag("snapscope.snapshot", snapshot)


def _tensorboard(library: Any, figures: dict[str, float], step: int, snapshot: str) -> None:
    for writer in [found for found in gc.get_objects() if type(found) is library.SummaryWriter]:
        for name, value in figures.items():
            writer.add_scalar(name, value, step)
        writer.add_text("snapscope/snapshot", snapshot, step)


_LOGS = {
    "wandb": _wandb,
    "trackio": _trackio,
    "mlflow": _mlflow,
    "torch.utils.tensorboard": _tensorboard,
    "tensorboardX": _tensorboard,
}
