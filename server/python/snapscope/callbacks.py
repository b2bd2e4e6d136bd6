"""Callbacks for training frameworks, which are imported only when one is made."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import active

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import Given


def transformers(folder: str | os.PathLike[str] = "snapshots", **options: Unpack[Given]) -> Any:
    """Returns a callback for `transformers.Trainer(callbacks=[…])`."""
    base: Any = import_module("transformers").TrainerCallback

    class SnapscopeCallback(base):  # type: ignore[misc]
        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            active.start(folder, options)

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            active.step()

        def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            active.stop()

    return SnapscopeCallback()


def lightning(folder: str | os.PathLike[str] = "snapshots", **options: Unpack[Given]) -> Any:
    """Returns a callback for Lightning's `Trainer(callbacks=[…])`."""
    try:
        base: Any = import_module("lightning.pytorch").Callback
    except ImportError:
        base = import_module("pytorch_lightning").Callback

    class SnapscopeCallback(base):  # type: ignore[misc]
        def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
            active.start(folder, options)

        def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
            active.stop()

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            active.stop(reason="exception")

    return SnapscopeCallback()


def accelerate(accelerator: Any, folder: str | os.PathLike[str] = "snapshots", **options: Unpack[Given]) -> None:
    """Records until `accelerator.end_training()`; the steps are those of the optimizer."""
    active.start(folder, options)
    end = getattr(accelerator, "end_training", None)
    if end is None:
        return

    def end_training(*args: Any, **kwargs: Any) -> Any:
        active.stop()
        return end(*args, **kwargs)

    accelerator.end_training = end_training
