"""Trainings at random, small ones: combinations that nobody would think to list."""

import random
from typing import Any

from cases import Case

CARDS = ["t4-16gb", "v100-32gb", "a100-80gb", "l4-24gb", "h100-80gb", "b200-180gb", "custom:2GiB"]
ALLOCATORS = ["", "", "expandable_segments:True", "max_split_size_mb:64", "roundup_power2_divisions:4"]
# Kernels by name that a card may lack are left to the list of cases.
ATTENTIONS = ["sdpa", "sdpa", "math", "eager"]


def random_cases(count: int, seed: int) -> list[Case]:
    """So many cases; the same seed gives the same ones."""
    dice = random.Random(seed)
    return [random_case(dice, f"random {seed}.{index}") for index in range(count)]


def random_case(dice: random.Random, name: str) -> Case:
    """One case."""
    family = dice.choice([gpt2, gpt2, llama, llama, qwen2, bert, resnet, rnn, mlp])
    config: dict[str, Any] = {
        "model": family(dice),
        "batch": dice.choice([1, 2, 3, 8]),
        "steps": dice.choice([2, 3]),
        "accumulation": dice.choice([1, 1, 3]),
        "precision": dice.choice(["fp32", "tf32", "bf16", "autocast-bf16", "autocast-fp16"]),
        "optimizer": optimizer(dice),
        "set_to_none": dice.random() < 0.8,
        "keep_outputs": dice.random() < 0.5,
        "checkpointing": family is not mlp and dice.random() < 0.3,
        "allocator": dice.choice(ALLOCATORS),
    }
    if config["checkpointing"]:
        config["model"].pop("use_cache", None)
    if family in (gpt2, llama, qwen2, bert, rnn):
        config["sequence"] = dice.choice([1, 17, 128, 512])
    if dice.random() < 0.5:
        config["clip_grad_norm"] = 1.0
    if dice.random() < 0.3:
        no_grad = dice.random() < 0.7
        config["evaluation"] = {"every": dice.choice([1, 2]), "batches": 2, "batch": 2, "no_grad": no_grad}
    if dice.random() < 0.4:
        config["data"] = data(dice, family)
    card = dice.choice(CARDS)
    # PyTorch 2.11 raises an exception: its cuDNN has no recurrent layers for a V100.
    if family is rnn and card == "v100-32gb":
        card = "t4-16gb"
    return Case(f"{name}, {family.__name__}, {config['precision']}", card, config)


def data(dice: random.Random, family: Any) -> dict[str, Any]:
    """What feeds a training of a family."""
    table: dict[str, Any] = {"seed": dice.randrange(1000), "pin_memory": dice.random() < 0.5}
    table |= dice.choice([{"prefetch": dice.choice([0, 1, 3])}, {"reuse_buffer": True}])
    if family in (gpt2, llama, qwen2, bert, rnn, resnet):
        table |= {"lengths": dice.choice(["uniform", "long-tailed"]), "pad_to_multiple_of": dice.choice([1, 8])}
    if family is resnet:
        table["shortest"] = 64
    if family is resnet:
        table["normalize"] = dice.choice(["on-host", "in-place", "out-of-place"])
    # A hidden state that is carried needs batches of one size.
    if family is not rnn:
        table |= dice.choice([{"batches": "uniform"}, {"samples": dice.choice([2, 5])}])
    return table


def gpt2(dice: random.Random) -> dict[str, Any]:
    """A GPT-2 of any shape."""
    heads = dice.choice([1, 4, 12])
    return {
        "preset": "gpt2",
        "hidden": heads * dice.choice([16, 64]),
        "heads": heads,
        "layers": dice.choice([1, 3]),
        "vocabulary": dice.choice([1000, 50257]),
        "intermediate": dice.choice([100, 1024]),
        "tied_head": dice.random() < 0.7,
        "activation": dice.choice(["gelu_new", "gelu", "gelu_tanh", "relu"]),
        "embedding_dropout": dice.choice([0.0, 0.1]),
        "attention_dropout": dice.choice([0.0, 0.1]),
        "residual_dropout": dice.choice([0.0, 0.1]),
        "attention": dice.choice(ATTENTIONS),
        "use_cache": dice.random() < 0.7,
    }


def llama(dice: random.Random) -> dict[str, Any]:
    """A Llama of any shape."""
    kv_heads, groups = dice.choice([1, 2, 8]), dice.choice([1, 2, 4])
    head_dim = dice.choice([32, 64, 128])
    return {
        "preset": "tinyllama-1.1b",
        "hidden": kv_heads * groups * dice.choice([32, 64]),
        "heads": kv_heads * groups,
        "kv_heads": kv_heads,
        "head_dim": head_dim,
        "layers": dice.choice([1, 3]),
        "vocabulary": dice.choice([1000, 32000]),
        "intermediate": dice.choice([100, 1024]),
        "tied_head": dice.random() < 0.5,
        "attention_bias": dice.random() < 0.3,
        "mlp_bias": dice.random() < 0.3,
        "attention_dropout": dice.choice([0.0, 0.0, 0.1]),
        "attention": dice.choice(ATTENTIONS),
        "use_cache": dice.random() < 0.7,
    }


def qwen2(dice: random.Random) -> dict[str, Any]:
    """A Llama with a bias of queries, keys and values only."""
    return llama(dice) | {"qkv_bias": True, "attention_bias": False, "mlp_bias": False}


def bert(dice: random.Random) -> dict[str, Any]:
    """A BERT of any shape."""
    heads = dice.choice([1, 4, 12])
    return {
        "preset": "bert-base",
        "vocabulary": dice.choice([1000, 30522]),
        "token_types": dice.choice([1, 2]),
        "hidden": heads * dice.choice([16, 64]),
        "heads": heads,
        "layers": dice.choice([1, 3]),
        "intermediate": dice.choice([100, 1024]),
        "activation": dice.choice(["gelu", "gelu_new", "gelu_tanh", "relu"]),
        "residual_dropout": dice.choice([0.0, 0.1]),
        "attention_dropout": dice.choice([0.0, 0.1]),
        "attention": dice.choice(ATTENTIONS),
    }


def resnet(dice: random.Random) -> dict[str, Any]:
    """A residual network on small images."""
    return {
        "preset": dice.choice(["resnet18", "resnet34", "resnet50"]),
        "architecture": dice.choice(["torchvision", "transformers"]),
        "classes": dice.choice([10, 1000]),
        "image_size": dice.choice([64, 97]),
        "channels_last": dice.random() < 0.5,
    }


def rnn(dice: random.Random) -> dict[str, Any]:
    """A recurrent language model of any shape."""
    hidden = dice.choice([64, 100, 256])
    tied = dice.random() < 0.3
    return {
        "preset": "lstm-medium",
        "cell": dice.choice(["lstm", "gru"]),
        "vocabulary": dice.choice([1000, 10000]),
        "embedding": hidden if tied else dice.choice([32, 200]),
        "layers": dice.choice([1, 3]),
        "hidden": hidden,
        "dropout": dice.choice([0.0, 0.2]),
        "tied_head": tied,
        "carry_hidden": dice.choice(["detach", "none"]),
    }


def mlp(dice: random.Random) -> dict[str, Any]:
    """Linear layers."""
    return {
        "preset": "mlp",
        "input": dice.choice([10, 784]),
        "hidden": [dice.choice([64, 1000]) for _ in range(dice.choice([1, 2, 5]))],
        "classes": dice.choice([2, 1000]),
        "activation": dice.choice(["relu", "gelu", "tanh"]),
        "bias": dice.random() < 0.7,
        "dropout": dice.choice([0.0, 0.2]),
    }


def optimizer(dice: random.Random) -> dict[str, Any]:
    """Any optimizer in any implementation."""
    table: dict[str, Any] = {
        "kind": dice.choice(["sgd", "adam", "adamw"]),
        "implementation": dice.choice(["foreach", "fused", "for-loop"]),
        "weight_decay": dice.choice([0.0, 0.01]),
    }
    if table["kind"] == "sgd":
        table["momentum"] = dice.choice([0.0, 0.9])
        table["nesterov"] = table["momentum"] > 0 and dice.random() < 0.5
    return table
