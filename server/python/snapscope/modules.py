"""Marks the calls of modules, and names parameters, gradients and optimizer state."""

from __future__ import annotations

import threading
import weakref
from typing import Any, Iterator

from .marks import Marks
from .naming import ALL_HOOKED, Named, named, one_of_each
from .notices import guarded, warn


class Modules:
    """Hooks of all modules; their names are those in the module whose call is the outermost."""

    def __init__(self, torch: Any, marks: Marks) -> None:
        self.torch = torch
        self.marks = marks
        self.names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self.roots: weakref.WeakSet[Any] = weakref.WeakSet()
        self.optimizers: weakref.WeakSet[Any] = weakref.WeakSet()
        self.calls = threading.local()
        self.annotate = getattr(torch.cuda.memory, "_annotate_tensor", None)
        self.handles = self._hooks(torch)

    def _hooks(self, torch: Any) -> list[Any]:
        """Adds the hooks, which torch.compile has to understand, because it compiles them with the module."""
        before, after = self._before, self._after
        if not hasattr(getattr(torch, "compiler", None), "is_compiling"):
            warn("modules", "calls of modules are not marked, because this PyTorch does not say when it compiles them")
            return []

        def begin(module: Any, inputs: Any) -> None:
            if not torch.compiler.is_compiling():
                before(module)

        def end(module: Any, inputs: Any, output: Any) -> None:
            if not torch.compiler.is_compiling():
                after(module)

        module = torch.nn.modules.module
        return [
            module.register_module_forward_pre_hook(begin),
            module.register_module_forward_hook(end, always_call=True),
        ]

    @guarded
    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    @guarded
    def _before(self, module: Any) -> None:
        stack = self._stack()
        if not stack:
            self._learn(module)
        stack.append((module, self.marks.begin(self.names.get(module) or type(module).__name__)))

    @guarded
    def _after(self, module: Any) -> None:
        stack = self._stack()
        # A call that was left by an exception has no end of its own.
        while stack and any(entry[0] is module for entry in stack):
            last, mark = stack.pop()
            self.marks.end(mark)
            if last is module:
                return

    @guarded
    def stepped(self, optimizers: list[Any]) -> None:
        """Learns of the optimizers that have taken a step."""
        for optimizer in optimizers:
            if optimizer not in self.optimizers:
                self.optimizers.add(optimizer)
                self._annotate(self._state(optimizer))

    def _stack(self) -> list[Any]:
        stack: list[Any] | None = getattr(self.calls, "stack", None)
        if stack is None:
            stack = self.calls.stack = []
        return stack

    def _learn(self, root: Any) -> None:
        if root in self.roots:
            return
        self.roots.add(root)
        for name, module in root.named_modules():
            self.names.setdefault(module, name or type(root).__name__)
        self._annotate(self._parameters(root))

    def _annotate(self, tensors: Iterator[tuple[str, str, Any]]) -> None:
        """Names tensors in the history where PyTorch can, which it cannot before 2.14."""
        if self.annotate is not None:
            for kind, name, tensor in tensors:
                if tensor.is_cuda:
                    self.annotate(tensor, f"{kind} {name}")

    def _parameters(self, root: Any) -> Iterator[tuple[str, str, Any]]:
        for name, parameter in root.named_parameters():
            yield "parameter", name, parameter
        for name, buffer in root.named_buffers():
            yield "buffer", name, buffer

    def _state(self, optimizer: Any) -> Iterator[tuple[str, str, Any]]:
        names = {id(tensor): name for root in self.roots for _, name, tensor in self._parameters(root)}
        for parameter, state in optimizer.state.items():
            for key, value in state.items() if isinstance(state, dict) else ():
                if isinstance(value, self.torch.Tensor):
                    yield "optimizer", f"{names.get(id(parameter), '?')}.{key}", value

    def _all(self) -> Iterator[tuple[str, str, Any]]:
        for root in list(self.roots):
            for kind, name, tensor in self._parameters(root):
                yield kind, name, tensor
                if getattr(tensor, "grad", None) is not None:
                    yield "gradient", name, tensor.grad
        for optimizer in list(self.optimizers):
            yield from self._state(optimizer)

    @guarded
    def tensors(self) -> list[Named]:
        """Returns the names of all parameters, buffers, gradients and states of optimizers, and that there are hooks."""
        hooks = [Named(None, 0, 0, ALL_HOOKED)] if self.handles else []
        names = (named(tensor, f"{kind} {name}") for kind, name, tensor in self._all() if tensor.is_cuda)
        return hooks + one_of_each([name for name in names if name is not None])
