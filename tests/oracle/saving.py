"""Ways to save memory, as PyTorch and the libraries for it have them."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, pad
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
from transformers.modeling_layers import GradientCheckpointingLayer

import modules
from job import Job, Optimizer

aten = torch.ops.aten

# The operations whose results checkpointed layers keep.
KEPT = {
    "attention": [
        aten._scaled_dot_product_flash_attention.default,
        aten._scaled_dot_product_efficient_attention.default,
        aten._scaled_dot_product_cudnn_attention.default,
    ],
    "matmul": [aten.mm.default, aten.bmm.default, aten.addmm.default, aten.baddbmm.default],
}

# The label of what nothing is predicted for.
IGNORED = -100


def checkpointing(job: Job) -> dict[str, Any]:
    """How `torch.utils.checkpoint` is called, as transformers does by default but for what is kept."""
    keep = job.saving.keep
    contexts = modules.checkpoint_contexts if keep == "nothing" else partial(keeping_contexts, KEPT[keep])
    return {"use_reentrant": False, "context_fn": contexts}


def keeping_contexts(kept: list[Any]) -> tuple[AbstractContextManager, AbstractContextManager]:
    """The `context_fn` of a checkpoint that keeps the results of some operations."""
    outer, inner = modules.checkpoint_contexts(), create_selective_checkpoint_contexts(kept)
    return both(outer[0], inner[0]), both(outer[1], inner[1])


@contextmanager
def both(outer: AbstractContextManager, inner: AbstractContextManager) -> Iterator[None]:
    """One context inside the other."""
    with outer, inner:
        yield


def checkpoint_layers(model: nn.Module, job: Job) -> None:
    """Makes the job's choice of a transformers model's layers compute their activations again."""
    model.activation_checkpointing_enable(activation_checkpointing_kwargs=checkpointing(job))
    layers = [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]
    for index, layer in enumerate(layers):
        layer.gradient_checkpointing = takes(job, index)


def takes(job: Job, index: int) -> bool:
    """Whether the layer of this index is checkpointed."""
    return job.checkpointing and (index + 1) % job.saving.checkpoint_every == 0


def activations(job: Job) -> AbstractContextManager:
    """What waits for backward on the host."""
    on_host = job.saving.offload_activations
    return torch.autograd.graph.save_on_cpu(pin_memory=True) if on_host else nullcontext()


def run_chunked(chunks: int, model: nn.Module, tokens: Tensor, labels: Tensor) -> tuple[Any, Tensor]:
    """The outputs of a transformers model without its head, and the loss in chunks."""
    language_model = model.get_base_model() if hasattr(model, "get_base_model") else model
    output = language_model.base_model(input_ids=tokens)
    return output, chunked_loss(language_model.get_output_embeddings(), output.last_hidden_state, labels, chunks)


def chunked_loss(head: nn.Module, hidden: Tensor, labels: Tensor, chunks: int) -> Tensor:
    """torchtune's `LinearCrossEntropyLoss` without its mask, each chunk under a checkpoint."""
    padded = pad(labels, (0, 1), value=IGNORED)
    targets = padded[..., 1:].contiguous()
    counted = targets != IGNORED
    count = counted.sum()
    hidden_chunks = hidden.tensor_split(chunks, dim=1)
    target_chunks = targets.tensor_split(chunks, dim=1)
    total = 0.0
    for index in range(chunks):
        total += checkpoint(chunk_loss, head, hidden_chunks[index], target_chunks[index], use_reentrant=False)
    return total / count


def chunk_loss(head: nn.Module, hidden: Tensor, targets: Tensor) -> Tensor:
    """The sum of a chunk's losses."""
    logits = head(hidden)
    return cross_entropy(
        logits.float().reshape(-1, logits.size(-1)), targets.reshape(-1), reduction="sum", ignore_index=IGNORED
    )


def eight_bit(rule: Optimizer, model: nn.Module) -> torch.optim.Optimizer:
    """bitsandbytes' optimizer; its kernels, which work in place, are left out, since they need a GPU."""
    import bitsandbytes

    bitsandbytes.functional.optimizer_update_8bit_blockwise = nothing
    bitsandbytes.functional.optimizer_update_32bit = nothing
    kind = {"adam": bitsandbytes.optim.Adam8bit, "adamw": bitsandbytes.optim.AdamW8bit}[rule.kind]
    settings = {"lr": rule.learning_rate, "weight_decay": rule.weight_decay}
    return kind(model.parameters(), betas=rule.betas, eps=rule.epsilon, **settings)


def nothing(*_: Any, **__: Any) -> None:
    """Stands for a kernel."""


def on_host(
    kind: type[torch.optim.Optimizer], rule: Optimizer, model: nn.Module, settings: dict[str, Any]
) -> torch.optim.Optimizer:
    """torchao's optimizer, whose steps on the host are left out: they would take a model's memory several times."""
    from torchao.optim import CPUOffloadOptimizer

    return CPUOffloadOptimizer(
        model.parameters(), idle_on_host(kind), offload_gradients=rule.offload_gradients, **settings
    )


def idle_on_host(kind: type[torch.optim.Optimizer]) -> type[torch.optim.Optimizer]:
    """An optimizer that changes nothing but what is on the device."""

    class Idle(kind):
        def step(self, closure: Callable[[], Any] | None = None) -> Any:
            return super().step(closure) if self.param_groups[0]["params"][0].is_cuda else None

    return Idle
