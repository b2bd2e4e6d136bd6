"""Lets compiled code see ordinary tensors: PyTorch's compiler cannot trace the class of those with known values."""

import functools
import types

from ..importing import at_import
from ..notices import tried
from . import carried, patch


def install(torch, counts):
    """Sets the known values aside while a compiled function or module runs."""

    def wrap_compiled(compiled, model=None, *args, **kwargs):
        # Without a model, the result is a decorator, which calls `torch.compile` again.
        if model is None or compiled is model:
            return compiled
        if isinstance(compiled, torch.nn.Module):
            _wrap_class(type(compiled), counts)
            return compiled
        return _aside(compiled, counts) if isinstance(compiled, types.FunctionType) else compiled

    patch.wrap(torch, "compile", lambda function: wrap_compiled)
    at_import("torch._dynamo.aot_compile", lambda module: _wrap_class(module.AOTCompiledFunction, counts))
    # The first gradients, which are ones, may go into compiled code.
    patch.wrap(torch.autograd, "_make_grads", lambda function: _plain)


def _plain(made, *args, **kwargs):
    for one in made:
        if type(one) is carried.Carried:
            carried.make_plain(one)
    return made


def _wrap_class(kind, counts):
    """Wraps the calls of all compiled modules, whose class holds the user's module, or of code compiled ahead of time."""
    if kind.__name__ in ("OptimizedModule", "AOTCompiledFunction") and "_snapscope_is_wrapped" not in kind.__dict__:
        kind._snapscope_is_wrapped = True
        kind.__call__ = _aside(kind.__call__, counts)


def _aside(function, counts):
    @functools.wraps(function)
    def call(*args, **kwargs):
        # The compiler traces this function where one compiled function calls another.
        if not patch.is_on:
            return function(*args, **kwargs)
        counts.is_compiled = True
        kept = tried([], carried.set_aside)
        try:
            return function(*args, **kwargs)
        finally:
            tried(None, carried.take_back, kept)

    if hasattr(function, "aot_compile"):
        call.aot_compile = _aside(function.aot_compile, counts)
    return call
