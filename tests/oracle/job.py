"""A training config with every default filled in, as the example `resolve` of the crate `shared` writes it.

Presets, defaults and limits have one home, the Rust crate `shared`; this file only names their results.
"""

import json
import subprocess
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from virtual import ROOT


@dataclass(frozen=True)
class Dropout:
    """Probabilities of dropout."""

    embedding: float
    attention: float
    residual: float


@dataclass(frozen=True)
class Transformer:
    """A decoder-only language model."""

    architecture: str
    vocabulary: int
    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    max_positions: int
    norm_epsilon: float
    rope_theta: float
    activation: str
    qkv_bias: bool
    attention_bias: bool
    mlp_bias: bool
    tied_head: bool
    dropout: Dropout
    attention: str
    use_cache: bool


@dataclass(frozen=True)
class ResNet:
    """A residual network."""

    architecture: str
    depth: int
    classes: int
    image_size: int
    channels_last: bool


@dataclass(frozen=True)
class Bert:
    """A masked language model."""

    vocabulary: int
    layers: int
    hidden: int
    intermediate: int
    heads: int
    max_positions: int
    token_types: int
    norm_epsilon: float
    activation: str
    residual_dropout: float
    attention_dropout: float
    attention: str


@dataclass(frozen=True)
class Mlp:
    """Linear layers with an activation between them."""

    input_features: int
    hidden_features: list[int]
    classes: int
    activation: str
    bias: bool
    dropout: float


@dataclass(frozen=True)
class Cnn:
    """A list of layers."""

    layers: list[str]
    input: int
    image_size: int
    channels_last: bool


@dataclass(frozen=True)
class Rnn:
    """A recurrent language model."""

    cell: str
    vocabulary: int
    embedding: int
    layers: int
    hidden: int
    dropout: float
    tied_head: bool
    carry_hidden: str


Model = Transformer | Bert | ResNet | Mlp | Rnn | Cnn


@dataclass(frozen=True)
class Optimizer:
    """What changes the weights."""

    kind: str
    implementation: str
    learning_rate: float
    weight_decay: float
    momentum: float
    nesterov: bool
    betas: tuple[float, float]
    epsilon: float
    state: str
    offload: bool
    offload_gradients: bool


@dataclass(frozen=True)
class Saving:
    """Ways to save memory, besides checkpointing all layers."""

    checkpoint_every: int
    keep: str
    loss_chunks: int | None
    offload_activations: bool


@dataclass(frozen=True)
class Lora:
    """Adapters that are trained in the model's place."""

    rank: int
    alpha: float
    dropout: float
    targets: list[str]


@dataclass(frozen=True)
class Data:
    """What feeds the training."""

    lengths: str
    batches: str
    seed: int
    longest_first: bool
    pad_to_multiple_of: int
    drop_last: bool
    prefetch: int
    pin_memory: bool
    reuse_buffer: bool
    normalize: str
    shortest: int | None = None
    smallest: int | None = None
    samples: int | None = None


@dataclass(frozen=True)
class Ddp:
    """One process of several that average their gradients."""

    rank: int
    ranks: int
    bucket_mb: int | None
    gradient_as_bucket_view: bool
    static_graph: bool
    find_unused_parameters: bool


@dataclass(frozen=True)
class Evaluation:
    """Passes without training."""

    every: int
    batches: int
    batch: int
    no_grad: bool


@dataclass(frozen=True)
class Fsdp:
    """One rank of several that shard a model."""

    rank: int
    ranks: int
    reshard_after_forward: bool
    mixed_precision: bool


@dataclass(frozen=True)
class Job:
    """A recording to make."""

    model: Model
    batch: int
    sequence: int
    steps: int
    accumulation: int
    precision: str
    grad_scaler: bool
    optimizer: Optimizer
    checkpointing: bool
    saving: Saving
    lora: Lora | None
    clip_grad_norm: float | None
    set_to_none: bool
    keep_outputs: bool
    data: Data
    evaluation: Evaluation | None
    allocator: str
    memory_fraction: float | None
    fsdp: Fsdp | None
    replicas: int
    gather: str
    ddp: Ddp | None


RESOLVER = ROOT / "target" / "release" / "examples" / "resolve"


def read(path: Path) -> Job:
    """The job that a config stands for: TOML, YAML, JSON or a Hugging Face `config.json`."""
    run = subprocess.run([str(RESOLVER), str(path)], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(run.stderr.strip())
    return from_document(json.loads(run.stdout))


def from_document(document: dict[str, Any]) -> Job:
    """The job of a resolved config."""
    evaluation, lora = document.get("evaluation"), document.get("lora")
    return Job(
        model=model_of(document["model"]),
        batch=document["batch"],
        sequence=document.get("sequence", 1),
        steps=document["steps"],
        accumulation=document["accumulation"],
        precision=document["precision"],
        grad_scaler=document.get("grad_scaler", False),
        optimizer=optimizer_of(document["optimizer"]),
        checkpointing=bool(document["checkpointing"]),
        saving=saving_of(document),
        lora=Lora(**lora) if lora else None,
        clip_grad_norm=document.get("clip_grad_norm"),
        set_to_none=document["set_to_none"],
        keep_outputs=document["keep_outputs"],
        data=Data(**document["data"]),
        evaluation=Evaluation(**evaluation) if evaluation else None,
        allocator=document.get("allocator", ""),
        memory_fraction=document.get("memory_fraction"),
        fsdp=fsdp_of(document.get("parallel", {})),
        replicas=document.get("parallel", {}).get("devices", 1),
        gather=document.get("parallel", {}).get("gather", "outputs"),
        ddp=ddp_of(document.get("parallel", {})),
    )


def saving_of(document: dict[str, Any]) -> Saving:
    """How a resolved config saves memory."""
    selected = document["checkpointing"] or {"every": 1, "keep": "nothing"}
    chunks = document.get("loss", {}).get("chunks")
    return Saving(selected["every"], selected["keep"], chunks, document["offload_activations"])


def fsdp_of(parallel: dict[str, Any]) -> Fsdp | None:
    """How a resolved config shards its model, if it does."""
    if parallel.get("kind") != "fsdp":
        return None
    return Fsdp(**{field.name: parallel[field.name] for field in fields(Fsdp)})


def model_of(table: dict[str, Any]) -> Model:
    """The model of a resolved config."""
    if table["family"] == "transformer":
        return transformer_of(table)
    if table["family"] == "resnet":
        sizes = (table["depth"], table["classes"], table["image_size"])
        return ResNet(table["architecture"], *sizes, channels_last=table["channels_last"])
    if table["family"] == "bert":
        return Bert(**{field.name: table[field.name] for field in fields(Bert)})
    if table["family"] == "cnn":
        return Cnn(**{field.name: table[field.name] for field in fields(Cnn)})
    if table["family"] == "rnn":
        return Rnn(**{field.name: table[field.name] for field in fields(Rnn)})
    hidden = table["hidden"]
    return Mlp(
        input_features=table["input"],
        hidden_features=hidden if isinstance(hidden, list) else [hidden] * table["layers"],
        classes=table["classes"],
        activation=table["activation"],
        bias=table["bias"],
        dropout=table["dropout"],
    )


def transformer_of(table: dict[str, Any]) -> Transformer:
    """The transformer of a resolved config."""
    expected = ("layer_norm", "learned") if table["architecture"] == "gpt2" else ("rms_norm", "rotary")
    if (table["norm"], table["positions"]) != expected:
        found = f"{table['norm']} and {table['positions']} positions"
        raise SystemExit(f"transformers has no {table['architecture']} with {found}")
    return Transformer(
        architecture=table["architecture"],
        vocabulary=table["vocabulary"],
        layers=table["layers"],
        hidden=table["hidden"],
        intermediate=table["intermediate"],
        heads=table["heads"],
        kv_heads=table["kv_heads"],
        head_dim=table["head_dim"],
        max_positions=table["max_positions"],
        norm_epsilon=table["norm_epsilon"],
        rope_theta=table.get("rope_theta", 0.0),
        activation=table["activation"],
        qkv_bias=table["qkv_bias"],
        attention_bias=table["attention_bias"],
        mlp_bias=table["mlp_bias"],
        tied_head=table["tied_head"],
        dropout=Dropout(table["embedding_dropout"], table["attention_dropout"], table["residual_dropout"]),
        attention=table["attention"],
        use_cache=table["use_cache"],
    )


def ddp_of(table: dict[str, Any]) -> Ddp | None:
    """How a resolved config averages gradients among processes, if it does."""
    if table.get("kind") != "ddp":
        return None
    return Ddp(**{field.name: table.get(field.name) for field in fields(Ddp)})


def optimizer_of(table: dict[str, Any]) -> Optimizer:
    """The optimizer of a resolved config."""
    return Optimizer(
        kind=table["kind"],
        implementation=table.get("implementation", ""),
        learning_rate=table["learning_rate"],
        weight_decay=table["weight_decay"],
        momentum=table.get("momentum", 0.0),
        nesterov=table.get("nesterov", False),
        betas=tuple(table.get("betas", (0.9, 0.999))),
        epsilon=table.get("epsilon", 1e-8),
        state=table["state"],
        offload=table["offload"],
        offload_gradients=table.get("offload_gradients", False),
    )
