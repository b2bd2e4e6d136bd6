"""Convolutional networks as a list of layers, as plain scripts write them with torch.nn."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Callable

import torch
from torch import Tensor, nn

from job import Cnn


@dataclass(frozen=True)
class Words:
    """A layer's text: its name, its numbers, and what follows them."""

    name: str
    numbers: list[str]
    options: dict[str, int]
    flags: set[str]

    def number(self, index: int = 0) -> int:
        """One of the numbers."""
        return int(self.numbers[index])


FLAGS = {"inplace", "no_bias"}


def words_of(text: str) -> Words:
    """The words of a text such as `conv 64 3 stride 2 no_bias`."""
    name, *rest = text.split()
    numbers: list[str] = []
    while rest and rest[0][0].isdigit():
        numbers.append(rest.pop(0))
    flags = {word for word in rest if word in FLAGS}
    pairs = [word for word in rest if word not in FLAGS]
    return Words(name, numbers, dict(zip(pairs[::2], map(int, pairs[1::2]))), flags)


# Layers without weights.
PLAIN: dict[str, Callable[[Words], nn.Module]] = {
    "relu": lambda words: nn.ReLU(inplace="inplace" in words.flags),
    "gelu": lambda words: nn.GELU(),
    "sigmoid": lambda words: nn.Sigmoid(),
    "tanh": lambda words: nn.Tanh(),
    "pool": lambda words: nn.MaxPool2d(words.number(), **words.options),
    "avgpool": lambda words: nn.AvgPool2d(words.number(), **words.options),
    "adaptive": lambda words: nn.AdaptiveAvgPool2d(words.number()),
    "dropout": lambda words: nn.Dropout(float(words.numbers[0])),
    "flatten": lambda words: nn.Flatten(),
}


def model_of(shape: Cnn, dtype: torch.dtype, layout: torch.memory_format) -> nn.Module:
    """The model without memory, on the meta device; PyTorch itself says what each layer leaves."""
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    with torch.device("meta"):
        features = torch.empty(2, shape.input, shape.image_size, shape.image_size)
        for index, text in enumerate(shape.layers):
            words = words_of(text)
            layer = layer_of(words, features)
            features = layer(features)
            layers[f"{words.name}{index}"] = layer
        return nn.Sequential(layers).to(dtype=dtype, memory_format=layout)


def layer_of(words: Words, features: Tensor) -> nn.Module:
    """The module of a layer that reads such features."""
    channels, bias = features.shape[1], "no_bias" not in words.flags
    match words.name:
        case "conv":
            return nn.Conv2d(channels, words.number(), words.number(1), bias=bias, **words.options)
        case "norm":
            return (nn.BatchNorm2d if features.dim() == 4 else nn.BatchNorm1d)(channels)
        case "linear":
            return nn.Linear(channels, words.number(), bias=bias)
        case _:
            return PLAIN[words.name](words)
