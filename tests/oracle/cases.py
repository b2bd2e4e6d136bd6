"""The trainings that both sides run."""

import json
from dataclasses import dataclass
from typing import Any

from virtual import ROOT

GPT2 = {"preset": "gpt2"}
TINY_LLAMA = {"preset": "tinyllama-1.1b"}
LLAMA_3 = {"preset": "llama-3.2-1b"}
QWEN_2 = {"preset": "qwen2.5-0.5b"}
BERT = {"preset": "bert-base"}
RESNET_18 = {"preset": "resnet18"}
RESNET_50 = {"preset": "resnet50"}
RESNET_101 = {"preset": "resnet101"}
VGG_16 = {"preset": "vgg16"}
SMALL_CNN = {
    "family": "cnn",
    "image_size": 64,
    "layers": [
        "conv 64 3 padding 1 no_bias", "norm", "relu", "conv 64 3 groups 4", "gelu", "pool 3 stride 2 padding 1",
        "conv 128 3 dilation 2", "tanh", "avgpool 2", "dropout 0.2", "conv 64 1", "relu inplace", "adaptive 4", "flatten",
        "linear 256 no_bias", "norm", "sigmoid", "dropout 0.5", "linear 100",
    ],
}
LSTM = {"preset": "lstm-medium"}
MLP = {"preset": "mlp"}


@dataclass(frozen=True)
class Case:
    """A training config with the name of its row."""

    name: str
    """What the table calls it."""
    card: str
    """The virtual GPU."""
    config: dict[str, Any]
    """The training config, as its JSON form has it."""
    arguments: dict[str, Any] | None = None
    """Hugging Face's `TrainingArguments`, where the config is Hugging Face's and Trainer is the other side."""
    sequence: int = 0
    """Tokens of a sample, for Trainer."""
    dtype: str | None = None
    """Number format of Trainer's weights, where it is not the config's."""


def case(name: str, card: str, model: dict[str, Any], **config: Any) -> Case:
    """A case of three steps, unless it says otherwise."""
    return Case(name, card, {"name": name, "model": model, "steps": 3} | config)


def language(name: str, model: dict[str, Any], card: str = "h100-80gb", **config: Any) -> Case:
    """A language model in AdamW steps with clipping, as fine-tuning scripts have it."""
    defaults = {"batch": 2, "sequence": 1024, "clip_grad_norm": 1.0, "optimizer": {"kind": "adamw"}}
    return case(name, card, model, **defaults | config)


def images(name: str, model: dict[str, Any], **config: Any) -> Case:
    """A model of images in steps of SGD with momentum."""
    defaults = {"batch": 64, "optimizer": {"kind": "sgd", "momentum": 0.9}}
    return case(name, "h100-80gb", model, **defaults | config)


def imported(name: str, file: str, dtype: str | None = None, **arguments: Any) -> Case:
    """A Hugging Face config of the tests' jobs, trained by Trainer."""
    config = json.loads((ROOT / "tests" / "data" / "jobs" / file).read_text())
    defaults = {"max_steps": 3, "per_device_train_batch_size": 2, "use_cache": False}
    return Case(name, "h100-80gb", config, defaults | arguments, sequence=1024, dtype=dtype)


EVALUATION = {"every": 1, "batches": 2, "batch": 2}

CASES = [
    language("GPT-2, fp32", GPT2, batch=4),
    language("GPT-2, fp32, A100", GPT2, card="a100-80gb", batch=4),
    language("GPT-2, bf16 autocast", GPT2, batch=4, precision="autocast-bf16"),
    language("GPT-2, fp16 autocast, T4", GPT2, card="t4-16gb", precision="autocast-fp16"),
    language("GPT-2, bf16 weights", GPT2, batch=4, precision="bf16"),
    language("GPT-2, checkpointing", GPT2, batch=4, checkpointing=True),
    language("GPT-2, bf16 autocast, checkpointing", GPT2, batch=4, precision="autocast-bf16", checkpointing=True),
    language("GPT-2, fused AdamW", GPT2, optimizer={"kind": "adamw", "implementation": "fused"}),
    language("GPT-2, AdamW one by one", GPT2, optimizer={"kind": "adamw", "implementation": "for-loop"}),
    language("GPT-2, Adam, no clipping", GPT2, optimizer={"kind": "adam"}, clip_grad_norm=None),
    language("GPT-2, 4 micro batches", GPT2, accumulation=4),
    language("GPT-2, gradients zeroed", GPT2, set_to_none=False),
    language("GPT-2, evaluation", GPT2, evaluation=EVALUATION | {"no_grad": True}),
    language("GPT-2, evaluation with graphs", GPT2, evaluation=EVALUATION | {"no_grad": False}),
    language("GPT-2, eager attention", GPT2 | {"attention": "eager"}),
    language("GPT-2, outputs dropped", GPT2, batch=4, keep_outputs=False),
    language("GPT-2, no cache", GPT2 | {"use_cache": False}),
    language("GPT-2, expandable segments", GPT2, batch=4, allocator="expandable_segments:True"),
    language("GPT-2, fp32, too large for a T4", GPT2, card="t4-16gb", batch=12),
    language("GPT-2, flash attention", GPT2 | {"attention": "flash"}, precision="bf16"),
    language("GPT-2, efficient attention", GPT2 | {"attention": "efficient"}, precision="autocast-bf16"),
    language("GPT-2, math attention", GPT2 | {"attention": "math"}),
    language("GPT-2, every second layer keeps products only", GPT2, checkpointing={"every": 2, "keep": "matmul"}),
    language("GPT-2, 8-bit AdamW, loss in chunks", GPT2, optimizer={"kind": "adamw", "state": "8bit"},
             loss={"chunks": 8}),
    language("GPT-2, AdamW and activations on the host", GPT2, optimizer={"kind": "adamw", "offload": True},
             offload_activations=True, clip_grad_norm=None),
    language("TinyLlama 1.1B, fp32", TINY_LLAMA),
    language("TinyLlama 1.1B, bf16 autocast", TINY_LLAMA, precision="autocast-bf16", batch=4, sequence=2048),
    language("TinyLlama 1.1B, bf16 autocast, A100", TINY_LLAMA, card="a100-80gb", precision="autocast-bf16", batch=4),
    language("TinyLlama 1.1B, bf16 autocast, B200", TINY_LLAMA, card="b200-180gb", precision="autocast-bf16"),
    language("TinyLlama 1.1B, eager attention", TINY_LLAMA | {"attention": "eager"}, precision="autocast-bf16"),
    language("TinyLlama 1.1B, bf16 weights", TINY_LLAMA, precision="bf16", batch=4),
    language("Llama 3.2 1B, fp32", LLAMA_3, batch=1),
    language("Llama 3.2 1B, bf16 autocast", LLAMA_3, precision="autocast-bf16", batch=4),
    language("Llama 3.2 1B, bf16 autocast, checkpointing", LLAMA_3, precision="autocast-bf16", checkpointing=True),
    language("Qwen2.5 0.5B, bf16 autocast", QWEN_2, precision="autocast-bf16"),
    language("BERT, fp32", BERT, batch=16, sequence=512),
    language("BERT, bf16 autocast, checkpointing", BERT, batch=16, sequence=512, precision="autocast-bf16",
             checkpointing=True),
    language("BERT, eager attention, T4", BERT | {"attention": "eager"}, card="t4-16gb", batch=8, sequence=256,
             precision="autocast-fp16"),
    images("ResNet-50, fp32", RESNET_50),
    images("ResNet-50, fp16 autocast, NHWC", RESNET_50 | {"channels_last": True}, precision="autocast-fp16"),
    images("ResNet-50, fp32, checkpointing", RESNET_50, checkpointing=True),
    images("ResNet-101, bf16 autocast", RESNET_101, precision="autocast-bf16"),
    images("ResNet-50 of transformers, fp32", RESNET_50 | {"architecture": "transformers"}),
    images("ResNet-18 of transformers, bf16 autocast, evaluation", RESNET_18 | {"architecture": "transformers"},
           precision="autocast-bf16", evaluation=EVALUATION | {"batch": 64}),
    images("ResNet-18, fp32", RESNET_18),
    images("ResNet-18, bf16 weights, evaluation", RESNET_18, precision="bf16", evaluation=EVALUATION | {"batch": 64}),
    images("VGG-16, fp32", VGG_16, batch=32),
    images("CNN, fp16 autocast, NHWC, evaluation", SMALL_CNN | {"channels_last": True}, precision="autocast-fp16",
           evaluation=EVALUATION),
    language("LSTM, fp32", LSTM, batch=20, sequence=35, clip_grad_norm=5.0),
    language("LSTM, fp16 autocast, T4, evaluation", LSTM, card="t4-16gb", batch=20, sequence=35,
             precision="autocast-fp16", evaluation=EVALUATION),
    language("GRU, zeros to begin with, 4 micro batches", LSTM | {"cell": "gru", "carry_hidden": "none"}, batch=20,
             sequence=35, accumulation=4),
    language("LSTM, bf16 weights, T4", LSTM, card="t4-16gb", batch=20, sequence=35, precision="bf16"),
    case("MLP, SGD", "a100-80gb", MLP, batch=256, optimizer={"kind": "sgd", "momentum": 0.9}),
    case("MLP, SGD one by one", "t4-16gb", MLP, batch=64, optimizer={"kind": "sgd", "implementation": "for-loop"}),
    case("MLP, Adam, fused, fp16 autocast", "l4-24gb", MLP | {"dropout": 0.1}, batch=64, precision="autocast-fp16",
         optimizer={"kind": "adam", "implementation": "fused"}, clip_grad_norm=1.0),
    case("MLP, AdamW, bf16 autocast", "a100-80gb", MLP, batch=256, precision="autocast-bf16"),
    language("GPT-2, long-tailed lengths, 2 batches ahead", GPT2, batch=4, steps=6,
             data={"lengths": "long-tailed", "seed": 1, "prefetch": 2, "pin_memory": True}),
    language("GPT-2, batches of any size", GPT2, batch=4, sequence=256, steps=6,
             data={"lengths": "uniform", "batches": "uniform", "reuse_buffer": True}),
    images("ResNet-50, images from bytes, last batch partial", RESNET_50, steps=4,
           data={"samples": 150, "normalize": "out-of-place"}),
    language("GPT-2, evaluation with graphs", GPT2, evaluation=EVALUATION | {"no_grad": False}),
    language("GPT-2, ddp", GPT2, parallel={"kind": "ddp"}),
    language("GPT-2, bf16 autocast, ddp with views, 2 micro batches", GPT2, precision="autocast-bf16", accumulation=2,
             parallel={"kind": "ddp", "rank": 1, "gradient_as_bucket_view": True}),
    images("ResNet-18, fp16 autocast, ddp, evaluation", RESNET_18, batch=8, precision="autocast-fp16",
           evaluation={"batches": 2}, parallel={"kind": "ddp", "find_unused_parameters": True}),
    language("GPT-2, FSDP2, rank 0 of 8", GPT2, batch=4, parallel={"kind": "fsdp"}),
    language("Llama 3.2 1B, FSDP2, rank 5 of 6, bf16, checkpointing", LLAMA_3, batch=4, checkpointing=True,
             parallel={"kind": "fsdp", "rank": 5, "ranks": 6, "mixed_precision": True}),
    language("BERT, FSDP2, rank 7 of 8, bf16 weights, gathered once", BERT, batch=16, sequence=512, precision="bf16",
             parallel={"kind": "fsdp", "rank": 7, "reshard_after_forward": False}),
    imported("Trainer, GPT-2, fp32", "hf-gpt2.config.json"),
    imported("Trainer, GPT-2, bf16", "hf-gpt2.config.json", bf16=True, optim="adamw_torch"),
    imported("Trainer, GPT-2, fp16, 2 micro batches", "hf-gpt2.config.json", fp16=True, gradient_accumulation_steps=2),
    imported("Trainer, Llama 3.2 1B, bf16 weights", "hf-llama.config.json"),
    imported("Trainer, Llama 3.2 1B, bf16", "hf-llama.config.json", "float32", bf16=True),
    imported("Trainer, Llama 3.2 1B, checkpointing", "hf-llama.config.json", gradient_checkpointing=True),
]
