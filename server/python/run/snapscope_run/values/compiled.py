"""Lets compiled code see ordinary tensors: PyTorch's compiler cannot trace the class of those with known values."""

import functools
import types

from . import carried


def install(torch, counts):
    """Sets the known values aside while a compiled function or module runs."""
    compile_ = torch.compile

    def compile_and_wrap(model=None, *args, **kwargs):
        compiled = compile_(model, *args, **kwargs)
        # Without a model, the result is a decorator, which calls `torch.compile` again.
        if model is None or compiled is model:
            return compiled
        if isinstance(compiled, torch.nn.Module):
            _wrap_class(type(compiled), counts)
            return compiled
        return _aside(compiled, counts) if isinstance(compiled, types.FunctionType) else compiled

    torch.compile = functools.update_wrapper(compile_and_wrap, compile_)


def _wrap_class(kind, counts):
    """Wraps the calls of all compiled modules, whose class holds the user's module."""
    if kind.__name__ == "OptimizedModule" and "_snapscope_is_wrapped" not in kind.__dict__:
        kind._snapscope_is_wrapped = True
        kind.__call__ = _aside(kind.__call__, counts)


def _aside(function, counts):
    @functools.wraps(function)
    def call(*args, **kwargs):
        # The compiler traces this function where one compiled function calls another.
        if not carried.is_on:
            return function(*args, **kwargs)
        counts.is_compiled = True
        kept = carried.set_aside()
        try:
            return function(*args, **kwargs)
        finally:
            carried.take_back(kept)

    return call
