"""Encoders as transformers builds them: masked language models and vision transformers."""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertConfig, ViTConfig

from job import Bert, Encoder, Vit

COLOURS = 3


def bert(shape: Bert) -> BertConfig:
    """The configuration of a masked language model."""
    return BertConfig(
        vocab_size=shape.vocabulary,
        max_position_embeddings=shape.max_positions,
        type_vocab_size=shape.token_types,
        **common(shape.encoder),
    )


def vit(shape: Vit) -> ViTConfig:
    """The configuration of a classifier of images."""
    return ViTConfig(
        image_size=shape.image_size,
        patch_size=shape.patch_size,
        num_channels=COLOURS,
        num_labels=shape.classes,
        qkv_bias=shape.qkv_bias,
        **common(shape.encoder),
    )


def common(encoder: Encoder) -> dict[str, Any]:
    """What both configurations call the same."""
    return {
        "num_hidden_layers": encoder.layers,
        "hidden_size": encoder.hidden,
        "intermediate_size": encoder.intermediate,
        "num_attention_heads": encoder.heads,
        "layer_norm_eps": encoder.norm_epsilon,
        "hidden_act": {"gelu_tanh": "gelu_pytorch_tanh"}.get(encoder.activation, encoder.activation),
        "hidden_dropout_prob": encoder.residual_dropout,
        "attention_probs_dropout_prob": encoder.attention_dropout,
    }


def batch_of_tokens(samples: int, sequence: int) -> tuple[Tensor, Tensor]:
    """Tokens and labels; labels that do not count would take as much memory."""
    tokens = torch.zeros(samples, sequence, dtype=torch.long)
    return tokens, tokens.clone()


def batch_of_images(samples: int, shape: Vit, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Images and labels."""
    images = torch.empty(samples, COLOURS, shape.image_size, shape.image_size, dtype=dtype)
    return images, torch.zeros(samples, dtype=torch.long)


def run(model: nn.Module, inputs: Tensor, labels: Tensor) -> tuple[Any, Tensor]:
    """The model's outputs, and its loss."""
    output = model(inputs, labels=labels)
    return output, output.loss
