"""Recurrent language models, as plain scripts write them with torch.nn."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from job import Rnn

State = tuple[Tensor, Tensor] | Tensor


class LanguageModel(nn.Module):
    """The model of PyTorch's example word_language_model, with batches first."""

    state: State | None = None

    def __init__(self, shape: Rnn) -> None:
        super().__init__()
        cells = {"lstm": nn.LSTM, "gru": nn.GRU}[shape.cell]
        self.embedding = nn.Embedding(shape.vocabulary, shape.embedding)
        self.dropout = nn.Dropout(shape.dropout)
        self.rnn = cells(shape.embedding, shape.hidden, shape.layers, dropout=shape.dropout, batch_first=True)
        self.head = nn.Linear(shape.hidden, shape.vocabulary)
        if shape.tied_head:
            self.head.weight = self.embedding.weight
        self.carries = shape.carry_hidden == "detach"

    def forward(self, tokens: Tensor) -> Tensor:
        """The logits of the next token after each; training goes on with the state of the batch before."""
        embedded = self.dropout(self.embedding(tokens))
        features, state = self.rnn(embedded, self.state if self.training else None)
        del embedded
        if self.carries and self.training:
            self.state = detached(state)
        return self.head(self.dropout(features))


def detached(state: State) -> State:
    """A hidden state without its graph."""
    return state.detach() if isinstance(state, Tensor) else tuple(part.detach() for part in state)


def run(model: nn.Module, tokens: Tensor, labels: Tensor) -> tuple[Any, Tensor]:
    """The model's logits, and their cross entropy."""
    logits = model(tokens)
    return logits, cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1))


def model_of(shape: Rnn, dtype: torch.dtype) -> nn.Module:
    """The model without memory, on the meta device."""
    with torch.device("meta"):
        return LanguageModel(shape).to(dtype)
