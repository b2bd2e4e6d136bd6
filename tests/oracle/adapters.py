"""Low-rank adapters, as peft puts them beside the layers of transformers' models."""

import peft
import torch
from torch import nn

from job import Lora

# What transformers calls the linear layers of our configs: those of GPT-2 and of Llama.
LAYERS = {
    "q": ["q_proj"],
    "k": ["k_proj"],
    "v": ["v_proj"],
    "qkv": ["c_attn"],
    "out": ["attn.c_proj", "o_proj"],
    "gate": ["gate_proj"],
    "up": ["c_fc", "up_proj"],
    "down": ["mlp.c_proj", "down_proj"],
}


def added(model: nn.Module, lora: Lora) -> nn.Module:
    """The model, frozen, with adapters on the device that it is on."""
    config = peft.LoraConfig(
        task_type=peft.TaskType.CAUSAL_LM,
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=[layer for target in lora.targets for layer in LAYERS[target]],
    )
    with torch.device("meta"):
        return peft.get_peft_model(model, config)
