"""What a script with mistakes does inside of a model, and around it."""

from typing import Any, Callable

from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from job import Job

OTHER_DEVICE = "cuda:1"

# The layers whose outputs are kept, and the parts of layers whose outputs are, by the names of their classes.
LAYERS = {"GPT2Block", "LlamaDecoderLayer", "Qwen2DecoderLayer", "BertLayer", "ViTLayer", "BasicBlock", "Bottleneck"}
LAYERS_OF_MLP = {"ReLU", "GELU", "Tanh"}
ATTENTION = {"GPT2Attention", "LlamaAttention", "Qwen2Attention", "BertAttention", "ViTAttention"}


def prepare(model: nn.Module, job: Job) -> None:
    """Makes the mistakes that are made inside of the model."""
    if "hook_activations" in job.mistakes:
        features: list[Tensor] = []
        names = LAYERS_OF_MLP if type(model) is nn.Sequential else LAYERS
        for layer in modules_of(model, names):
            layer.register_forward_hook(lambda layer, inputs, output: features.append(first(output)))
    if "cache_activations" in job.mistakes:
        for attention in modules_of(model, ATTENTION):
            attention.register_forward_hook(lambda layer, inputs, output: setattr(layer, "attended", first(output)))
    if "chain_hidden_state" in job.mistakes:
        # Other processes may be joined around it.
        getattr(model, "module", model).chains = True


def modules_of(model: nn.Module, names: set[str]) -> list[nn.Module]:
    """The modules of some classes."""
    return [module for module in model.modules() if type(module).__name__ in names]


def first(output: Any) -> Tensor:
    """A module's output, without what it returns beside."""
    return output[0] if isinstance(output, tuple) else output


def judged(run: Callable[..., tuple[Any, Tensor]], job: Job) -> Callable[..., tuple[Any, Tensor]]:
    """What runs the model on a batch under autocast: its output, and its loss."""
    if "target_on_other_device" in job.mistakes:
        return run_with_loss(loss_on_other_device)
    return run


def run_with_loss(judge: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., tuple[Tensor, Tensor]]:
    """A model of logits, and a loss of the script's own."""

    def run(model: nn.Module, inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        logits = model(inputs)
        return logits, judge(logits, labels)

    return run


def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
    """The cross entropy of all samples, or of all tokens."""
    return cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1))


def loss_on_other_device(logits: Tensor, labels: Tensor) -> Tensor:
    """The loss, after all that it reads has been moved."""
    return loss_of(logits.to(OTHER_DEVICE), labels.to(OTHER_DEVICE))
