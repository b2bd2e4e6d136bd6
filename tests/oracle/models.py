"""The models of a job, as transformers, torchvision and torch.nn build them."""

from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from typing import Any, Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    BertConfig,
    GPT2Config,
    LlamaConfig,
    PreTrainedConfig,
    Qwen2Config,
)

import adapters
import convolutional
import recurrent
import residual
import saving
from job import Bert, Cnn, Job, Mlp, ResNet, Rnn, Transformer

Batch = tuple[Tensor, Tensor]

# What transformers calls the activations of our configs; "swiglu" is "silu" and the gate that Llama always has.
ACTIVATIONS = {
    "gelu_new": "gelu_new",
    "gelu": "gelu",
    "gelu_tanh": "gelu_pytorch_tanh",
    "relu": "relu",
    "swiglu": "silu",
}


@dataclass(frozen=True)
class Subject:
    """A model with what feeds and judges it."""

    model: nn.Module
    """On the host, its memory reserved but not written: a large model takes none."""
    batch: Callable[[int], Batch]
    """Inputs and labels of so many samples, on the host."""
    run: Callable[[nn.Module, Tensor, Tensor], tuple[Any, Tensor]]
    """The model's outputs for a batch on the device, and its loss."""


def build(job: Job) -> Subject:
    """What the job trains."""
    match job.model:
        case Transformer():
            return transformer(job, job.model)
        case Bert():
            return bert(job, job.model)
        case Rnn():
            return rnn(job, job.model)
        case ResNet():
            return resnet(job, job.model)
        case Cnn():
            return cnn(job, job.model)
        case Mlp():
            return mlp(job, job.model)


def transformer(job: Job, shape: Transformer) -> Subject:
    """Hugging Face's implementation with random weights."""
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(
            transformer_config(shape),
            dtype=weight_dtype(job),
            attn_implementation="eager" if shape.attention == "eager" else "sdpa",
        )
    model.train()
    if job.checkpointing:
        saving.checkpoint_layers(model, job)

    if job.lora is not None:
        model = adapters.added(model, job.lora)

    def batch(samples: int) -> Batch:
        tokens = torch.zeros(samples, job.sequence, dtype=torch.long)
        return tokens, tokens.clone()

    def run(model: nn.Module, tokens: Tensor, labels: Tensor) -> tuple[Any, Tensor]:
        output = model(input_ids=tokens, labels=labels)
        return output, output.loss

    if job.saving.loss_chunks is not None:
        return Subject(materialized(model), batch, partial(saving.run_chunked, job.saving.loss_chunks))
    return Subject(materialized(model), batch, run)


def transformer_config(shape: Transformer) -> PreTrainedConfig:
    """The configuration from which transformers builds a model of this shape."""
    if shape.architecture == "gpt2":
        return GPT2Config(
            vocab_size=shape.vocabulary,
            n_positions=shape.max_positions,
            n_embd=shape.hidden,
            n_layer=shape.layers,
            n_head=shape.heads,
            n_inner=shape.intermediate,
            activation_function=ACTIVATIONS[shape.activation],
            embd_pdrop=shape.dropout.embedding,
            attn_pdrop=shape.dropout.attention,
            resid_pdrop=shape.dropout.residual,
            layer_norm_epsilon=shape.norm_epsilon,
            tie_word_embeddings=shape.tied_head,
            use_cache=shape.use_cache,
        )
    common = {
        "vocab_size": shape.vocabulary,
        "max_position_embeddings": shape.max_positions,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.intermediate,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_dim,
        "hidden_act": ACTIVATIONS[shape.activation],
        "attention_dropout": shape.dropout.attention,
        "rms_norm_eps": shape.norm_epsilon,
        "rope_parameters": {"rope_type": "default", "rope_theta": shape.rope_theta},
        "tie_word_embeddings": shape.tied_head,
        "use_cache": shape.use_cache,
    }
    if shape.qkv_bias == shape.attention_bias:
        return LlamaConfig(attention_bias=shape.attention_bias, mlp_bias=shape.mlp_bias, **common)
    if shape.mlp_bias or not shape.qkv_bias:
        raise SystemExit("transformers has no llama with these biases; Qwen2 has one of queries, keys and values only")
    return Qwen2Config(**common)


def bert(job: Job, shape: Bert) -> Subject:
    """Hugging Face's masked language model with random weights."""
    config = BertConfig(
        vocab_size=shape.vocabulary,
        max_position_embeddings=shape.max_positions,
        type_vocab_size=shape.token_types,
        num_hidden_layers=shape.layers,
        hidden_size=shape.hidden,
        intermediate_size=shape.intermediate,
        num_attention_heads=shape.heads,
        layer_norm_eps=shape.norm_epsilon,
        hidden_act=ACTIVATIONS[shape.activation],
        hidden_dropout_prob=shape.residual_dropout,
        attention_probs_dropout_prob=shape.attention_dropout,
    )
    implementation = "eager" if shape.attention == "eager" else "sdpa"
    with torch.device("meta"):
        model = AutoModelForMaskedLM.from_config(config, dtype=weight_dtype(job), attn_implementation=implementation)
    model.train()
    if job.checkpointing:
        saving.checkpoint_layers(model, job)
    return Subject(materialized(model), partial(batch_of_tokens, sequence=job.sequence), judged)


def rnn(job: Job, shape: Rnn) -> Subject:
    """A recurrent language model on random tokens."""
    model = materialized(recurrent.model_of(shape, weight_dtype(job)))
    return Subject(model, partial(batch_of_tokens, sequence=job.sequence), recurrent.run)


def resnet(job: Job, shape: ResNet) -> Subject:
    """A residual network on random images."""
    layout = torch.channels_last if shape.channels_last else torch.contiguous_format
    with torch.device("meta"):
        model = residual.network(shape).to(dtype=weight_dtype(job), memory_format=layout)
    if job.checkpointing:
        residual.checkpoint_blocks(model, job)

    def batch(samples: int) -> Batch:
        images = torch.empty(samples, 3, shape.image_size, shape.image_size, dtype=weight_dtype(job))
        return images.to(memory_format=layout), torch.zeros(samples, dtype=torch.long)

    return Subject(materialized(model), batch, classify if shape.architecture == "torchvision" else judged)


def cnn(job: Job, shape: Cnn) -> Subject:
    """A list of layers on random images."""
    layout = torch.channels_last if shape.channels_last else torch.contiguous_format
    model = convolutional.model_of(shape, weight_dtype(job), layout)

    def batch(samples: int) -> Batch:
        images = torch.empty(samples, shape.input, shape.image_size, shape.image_size, dtype=weight_dtype(job))
        return images.to(memory_format=layout), torch.zeros(samples, dtype=torch.long)

    return Subject(materialized(model), batch, classify)


def mlp(job: Job, shape: Mlp) -> Subject:
    """Linear layers with an activation between them, in one `nn.Sequential`."""
    activation = {"relu": nn.ReLU, "gelu": nn.GELU, "tanh": nn.Tanh}[shape.activation]
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    features = shape.input_features
    with torch.device("meta"):
        for index, hidden in enumerate(shape.hidden_features):
            layers[f"linear{index}"] = nn.Linear(features, hidden, bias=shape.bias)
            layers[f"activation{index}"] = activation()
            if shape.dropout > 0:
                layers[f"dropout{index}"] = nn.Dropout(shape.dropout)
            features = hidden
        layers["head"] = nn.Linear(features, shape.classes, bias=shape.bias)
        model = nn.Sequential(layers).to(weight_dtype(job))

    def batch(samples: int) -> Batch:
        vectors = torch.empty(samples, shape.input_features, dtype=weight_dtype(job))
        return vectors, torch.zeros(samples, dtype=torch.long)

    return Subject(materialized(model), batch, classify)


def batch_of_tokens(samples: int, sequence: int) -> Batch:
    """Tokens and labels; labels that do not count would take as much memory."""
    tokens = torch.zeros(samples, sequence, dtype=torch.long)
    return tokens, tokens.clone()


def judged(model: nn.Module, inputs: Tensor, labels: Tensor) -> tuple[Any, Tensor]:
    """The outputs of a model of transformers, and the loss that it computes."""
    output = model(inputs, labels=labels)
    return output, output.loss


def classify(model: nn.Module, inputs: Tensor, labels: Tensor) -> tuple[Any, Tensor]:
    """The model's logits and their cross entropy."""
    logits = model(inputs)
    return logits, cross_entropy(logits, labels)


def weight_dtype(job: Job) -> torch.dtype:
    """The number format of weights and, without autocast, of activations."""
    return torch.bfloat16 if job.precision == "bf16" else torch.float32


def materialized(model: nn.Module) -> nn.Module:
    """Gives a model that was built on the meta device host memory, without writing to it.

    Pages that nothing writes take no memory, and the virtual GPU reads nothing of what is copied to it.
    Parameters that are shared stay shared.
    """
    replaced: dict[int, Any] = {}
    for module in model.modules():
        for tensors in (module._parameters, module._buffers):
            for name, tensor in tensors.items():
                if tensor is not None:
                    if id(tensor) not in replaced:
                        replaced[id(tensor)] = (tensor, on_host(tensor))
                    tensors[name] = replaced[id(tensor)][1]
    return model


def on_host(tensor: Tensor) -> Tensor:
    """An unwritten tensor of the same shape, format and kind on the host."""
    memory = torch.empty_like(tensor.data, device="cpu")
    return nn.Parameter(memory, requires_grad=tensor.requires_grad) if isinstance(tensor, nn.Parameter) else memory
