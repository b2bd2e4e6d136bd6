"""Replicas of a model on several devices, as `nn.DataParallel` has them."""

from typing import Any, Callable

from torch import Tensor, nn

import models


class WithLoss(nn.Module):
    """A model and its loss in one module, so that no more than losses is gathered."""

    def __init__(self, subject: models.Subject) -> None:
        super().__init__()
        self.model = subject.model
        self.judge = subject.run

    def forward(self, inputs: Tensor, labels: Tensor) -> Tensor:
        """The loss of a part of the batch."""
        output, loss = self.judge(self.model, inputs, labels)
        return loss


def wrapped(subject: models.Subject, devices: int, gather: str) -> nn.Module:
    """The model on so many devices; what they return comes together on the first."""
    model = WithLoss(subject) if gather == "losses" else subject.model
    return nn.DataParallel(model, device_ids=list(range(devices)))


def run_of(subject: models.Subject, gather: str) -> Callable[[nn.Module, Tensor, Tensor], tuple[Any, Tensor]]:
    """What runs such a model on a batch: its outputs, and its loss."""
    return run_losses if gather == "losses" else subject.run


def run_losses(model: nn.Module, inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """The losses of all parts, which are the output too."""
    losses = model(inputs, labels)
    return losses, losses
