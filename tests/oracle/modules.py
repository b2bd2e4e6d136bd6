"""Writing the module that allocates into each event's `user_metadata`.

Hooks set the path while a module's forward runs, and each node of the graph sets the path of the module that made it
before its backward runs: on autograd's thread, whose metadata is its own.
"""

from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Iterator

import torch
from torch import Tensor, nn
from torch.autograd.graph import Node
from torch.cuda.memory import _set_memory_metadata

KEY = "snapscope.module"
BACKWARD = " backward"

# It belongs to a parameter and outlives the pass; the gradient that it keeps is made by the node before it.
ACCUMULATE = type(nn.Parameter(torch.zeros(1)).view(1).grad_fn.next_functions[0][0])

# The modules that are running, outermost first, and what was last written as metadata.
running = [""]
written = ""


def tag(model: nn.Module) -> None:
    """Makes every allocation of the model's passes say which module asked: its dotted path."""
    for path, module in model.named_modules():
        module.register_forward_pre_hook(
            lambda module, inputs, named, path=path: enter(path, (*inputs, *named.values())), with_kwargs=True
        )
        module.register_forward_hook(lambda module, inputs, output: leave(output))


def enter(path: str, inputs: tuple[Any, ...]) -> None:
    """A module begins."""
    # What led to the inputs since the last module ended is the work of the module around this one.
    tag_graph(inputs, running[-1])
    running.append(path)
    write(path)


def leave(output: Any) -> None:
    """The innermost module ends."""
    tag_graph((output,), running.pop())
    write(running[-1])


def write(label: str) -> None:
    """Sets this thread's metadata."""
    global written
    written = label
    _set_memory_metadata(label)


def checkpoint_contexts() -> tuple[AbstractContextManager, AbstractContextManager]:
    """The `context_fn` of a checkpoint: around its first forward pass, and around its recomputation."""
    return nullcontext(), recomputation()


@contextmanager
def recomputation() -> Iterator[None]:
    """Returns to where backward was: a recomputation ends by an exception that no hook sees."""
    depth, label = len(running), written
    try:
        yield
    finally:
        del running[depth:]
        write(label)


def tag_graph(values: tuple[Any, ...], path: str) -> None:
    """Labels the nodes behind some tensors that have no label yet."""
    label = path + BACKWARD
    pending: list[Node | None] = [tensor.grad_fn for tensor in tensors_in(values)]
    while pending:
        node = pending.pop()
        if node is None or isinstance(node, ACCUMULATE) or KEY in node.metadata:
            continue
        node.metadata[KEY] = label
        node.register_prehook(lambda gradients: write(label))
        pending += [following for following, _ in node.next_functions]


def tensors_in(values: tuple[Any, ...]) -> list[Tensor]:
    """The tensors among some values, inside tuples and the dictionaries that transformers returns too."""
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, tuple | dict):
            found += tensors_in(tuple(value.values()) if isinstance(value, dict) else value)
    return found
