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

    def call(*args, **kwargs):
        if not is_on:
            return function(*args, **kwargs)
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


def replace(owner, name, function, call):
    """Puts a wrapper in the place of a function; TorchScript, which knows PyTorch's own by identity, takes it for it."""
    setattr(owner, name, call)
    builtins = getattr(getattr(sys.modules.get("torch"), "jit", None), "_builtins", None)
    operator = tried(None, builtins._find_builtin, function) if builtins is not None else None
    if operator is not None:
        tried(None, builtins._register_builtin, call, operator)
