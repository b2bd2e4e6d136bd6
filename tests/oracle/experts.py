"""Mixtures of experts, routed as a config says: the virtual GPU computes nothing that a router could choose by."""

from functools import wraps
from typing import Any, Callable

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from transformers import MixtralConfig
from transformers.models.mixtral.modeling_mixtral import MixtralExperts

from job import Transformer


def config(shape: Transformer, common: dict[str, Any]) -> MixtralConfig:
    """The configuration from which transformers builds a Mixtral of this shape."""
    if shape.qkv_bias or shape.attention_bias:
        raise SystemExit("transformers has no mixtral with biases")
    return MixtralConfig(
        num_local_experts=shape.experts,
        num_experts_per_tok=shape.experts_per_token,
        experts_implementation=shape.experts_implementation,
        **common,
    )


def tokens_of_each(shape: Transformer, tokens: int) -> list[int]:
    """The tokens that each expert computes; the crate `shared` has the rule."""
    every = tokens * shape.experts_per_token
    shares = [1.0] * shape.experts if shape.routing == "even" else shape.routing
    exact = [share / sum(shares) * every for share in shares]
    counts = [min(int(share), tokens) for share in exact]
    order = sorted(range(len(exact)), key=lambda index: -(exact[index] % 1))
    for index in order * 2:
        if sum(counts) < every and counts[index] < tokens:
            counts[index] += 1
    return counts


def route(shape: Transformer) -> None:
    """Makes the loop over experts see the routing of a config."""
    forward = MixtralExperts.forward

    @wraps(forward)
    def routed(self: MixtralExperts, hidden_states: Tensor, *arguments: Tensor) -> Tensor:
        counts = [count for count in tokens_of_each(shape, hidden_states.shape[0]) if count > 0]
        with Routing(counts):
            return forward(self, hidden_states, *arguments)

    MixtralExperts.forward = routed


class Routing(TorchFunctionMode):
    """Answers with as many places as the experts have tokens: first which experts are hit, then where each is."""

    def __init__(self, counts: list[int]) -> None:
        super().__init__()
        self.rows = iter([len(counts), *counts])

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, arguments: tuple[Any, ...] = (), named: dict[str, Any] | None = None
    ) -> Any:
        result = function(*arguments, **(named or {}))
        if function is Tensor.nonzero:
            return self.places(arguments[0])
        if function is torch.where and len(arguments) == 1:
            del result
            return self.places(arguments[0]).unbind(1)
        return result

    def places(self, condition: Tensor) -> Tensor:
        """What `nonzero` would give if as many were true."""
        with torch._C.DisableTorchFunction():
            return torch.zeros(condition.dim(), next(self.rows), dtype=torch.long, device=condition.device).t()
