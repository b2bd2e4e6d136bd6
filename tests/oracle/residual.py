"""Residual networks as torchvision and transformers build them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torchvision.models
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from torchvision.models.resnet import BasicBlock, Bottleneck
from transformers import ResNetConfig, ResNetForImageClassification
from transformers.models.resnet.modeling_resnet import ResNetBasicLayer, ResNetBottleNeckLayer

import saving
from job import Job, ResNet

BLOCKS = (BasicBlock, Bottleneck, ResNetBasicLayer, ResNetBottleNeckLayer)
DEPTHS = {18: [2, 2, 2, 2], 34: [3, 4, 6, 3], 50: [3, 4, 6, 3], 101: [3, 4, 23, 3], 152: [3, 8, 36, 3]}
WIDTHS = [64, 128, 256, 512]


def network(shape: ResNet) -> nn.Module:
    """The network of an implementation."""
    if shape.architecture == "torchvision":
        return getattr(torchvision.models, f"resnet{shape.depth}")(num_classes=shape.classes)
    basic = shape.depth < 50
    config = ResNetConfig(
        depths=DEPTHS[shape.depth],
        hidden_sizes=WIDTHS if basic else [4 * width for width in WIDTHS],
        layer_type="basic" if basic else "bottleneck",
        num_labels=shape.classes,
    )
    return ResNetForImageClassification(config).train()


def checkpoint_blocks(model: nn.Module, job: Job) -> None:
    """Makes the job's choice of blocks compute their activations again in backward, while they are trained."""
    options = saving.checkpointing(job)
    for index, block in enumerate(block for block in model.modules() if isinstance(block, BLOCKS)):
        if saving.takes(job, index):
            block.forward = partial(checkpointed, block, block.forward, options)


def checkpointed(
    block: nn.Module, forward: Callable[[Tensor], Tensor], options: dict[str, Any], features: Tensor
) -> Tensor:
    """What a block makes of its input."""
    return checkpoint(forward, features, **options) if block.training else forward(features)
