"""Replaces functions of PyTorch by wrappers, and finds the functions behind them."""

import contextlib
import functools
import sys

from ..notices import tried

# The original function by its wrapper.
_originals = {}

# False inside of compiled code: its compiler traces the wrappers, and cannot see through tensors with known values.
is_on = True


def original(function):
    """Returns the function behind a wrapper; PyTorch hands wrappers to `__torch_function__`."""
    return _originals.get(function, function)


def wrap(owner, name, make, prepare=None, around=lambda *args, **kwargs: contextlib.nullcontext()):
    """Replaces `owner.name` by a function with the same effect; does nothing where a version lacks it.

    `make` gets the original and returns a function of the result and the arguments, which returns the result to give;
    `prepare` may change the arguments, and `around` makes the context in which the original runs. Where one of them
    raises, the script gets what the original returns.
    """
    function = getattr(owner, name, None)
    if function is None:
        return
    finish = make(function)

    # PyTorch hands a function of a module to `__torch_function__` as its own, where a class of the program knows the wrapper.
    overrides = None if isinstance(owner, type) else getattr(sys.modules.get("torch"), "overrides", None)

    def call(*args, **kwargs):
        if not is_on:
            return function(*args, **kwargs)
        if overrides is not None and overrides.has_torch_function(args) and any(map(_is_foreign, args)):
            return overrides.handle_torch_function(call, args, *args, **kwargs)
        if prepare is not None:
            args = tried(args, prepare, args)
        with tried(contextlib.nullcontext(), around, *args, **kwargs):
            result = function(*args, **kwargs)
        return tried(result, finish, result, *args, **kwargs)

    try:
        functools.update_wrapper(call, function)
    except (AttributeError, TypeError):
        pass
    _originals[call] = function
    replace(owner, name, function, call)


def _is_foreign(item):
    """Returns true for objects of the program's own classes that take PyTorch's functions."""
    kind = type(item)
    return hasattr(kind, "__torch_function__") and kind.__module__.partition(".")[0] not in ("torch", "snapscope_run")


def replace(owner, name, function, call):
    """Puts a wrapper in the place of a function; what knows PyTorch's own by identity takes it for it.

    That is TorchScript, and parameters of lazy modules, which allow some functions before they have a shape.
    """
    setattr(owner, name, call)
    torch = sys.modules.get("torch")
    lazy = getattr(getattr(getattr(torch, "nn", None), "parameter", None), "UninitializedTensorMixin", None)
    allowed = getattr(lazy, "_allowed_methods", [])
    if function in allowed:
        allowed.append(call)
    builtins = getattr(getattr(torch, "jit", None), "_builtins", None)
    operator = tried(None, builtins._find_builtin, function) if builtins is not None else None
    if operator is not None:
        tried(None, builtins._register_builtin, call, operator)
