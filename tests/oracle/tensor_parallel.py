"""Tensor parallelism as one rank of several: `parallelize_module` of transformers' Llama, built on the meta device."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    ParallelStyle,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)

import fsdp
import models
from job import Job, TensorParallel

LAYER = "model.layers.*"
NORMS = ["model.norm", f"{LAYER}.input_layernorm", f"{LAYER}.post_attention_layernorm"]
BY_OUTPUTS = [f"{LAYER}.self_attn.{name}_proj" for name in "qkv"] + [f"{LAYER}.mlp.{name}_proj" for name in ("gate", "up")]
BY_INPUTS = [f"{LAYER}.self_attn.o_proj", f"{LAYER}.mlp.down_proj"]


class Whole(ParallelStyle):
    """A module that each rank has whole, as DTensors, so that clipping and the optimizer take all parameters at once."""

    def _apply(self, module: nn.Module, mesh: DeviceMesh) -> nn.Module:
        return distribute_module(module, mesh, None, self.entered, self.left)

    @staticmethod
    def entered(module: nn.Module, inputs: tuple[Any, ...], mesh: DeviceMesh) -> tuple[Any, ...]:
        """The input, which all ranks have alike."""
        return (DTensor.from_local(inputs[0], mesh, [Replicate()], run_check=False), *inputs[1:])

    @staticmethod
    def left(module: nn.Module, output: DTensor, mesh: DeviceMesh) -> Tensor:
        """The output as a plain tensor."""
        return output.to_local()


def divided(job: Job, subject: models.Subject) -> models.Subject:
    """The model with this rank's parts on the device, none of which was ever a part of a whole one there."""
    how = job.tensor
    if how is None:
        return subject
    model = subject.model
    fsdp.on_device(model, "meta", {})
    parallelize_module(model, init_device_mesh("cuda", (how.ranks,)), plan(how))
    if job.model.tied_head:
        model.lm_head.weight = model.model.embed_tokens.weight
    fsdp.on_device(model, "cuda", {})
    return replace(subject, run=run_with_positions) if how.sequence_parallel else subject


def plan(how: TensorParallel) -> dict[str, ParallelStyle]:
    """The plan of PyTorch's tutorial, with or without sequence parallelism."""
    tokens = Shard(1) if how.sequence_parallel else Replicate()
    styles: dict[str, ParallelStyle] = {
        "model.embed_tokens": RowwiseParallel(input_layouts=Replicate(), output_layouts=tokens),
        "lm_head": ColwiseParallel(input_layouts=tokens, output_layouts=Replicate()),
    }
    styles |= {name: SequenceParallel(use_local_output=True) if how.sequence_parallel else Whole() for name in NORMS}
    styles |= {name: ColwiseParallel() for name in BY_OUTPUTS}
    styles |= {name: RowwiseParallel(output_layouts=tokens) for name in BY_INPUTS}
    if how.sequence_parallel:
        gathered = {"hidden_states": Replicate()}
        styles[f"{LAYER}.self_attn"] = PrepareModuleInput(
            input_kwarg_layouts={"hidden_states": tokens}, desired_input_kwarg_layouts=gathered
        )
        styles[f"{LAYER}.mlp"] = PrepareModuleInput(input_layouts=(tokens,), desired_input_layouts=(Replicate(),))
    for style in styles.values():
        # No rank has weights that the others would have to be sent.
        style.src_data_rank = None
    return styles


def run_with_positions(model: nn.Module, tokens: Tensor, labels: Tensor) -> tuple[Any, Tensor]:
    """The outputs and the loss; the model would take the length of this rank's tokens for that of all."""
    ids = torch.arange(tokens.shape[1], device=tokens.device).unsqueeze(0)
    output = model(input_ids=tokens, labels=labels, position_ids=ids)
    return output, output.loss
