"""Replaces functions of PyTorch by wrappers, and finds the functions behind them."""

import functools

# The original function by its wrapper.
_originals = {}


def original(function):
    """Returns the function behind a wrapper; PyTorch hands wrappers to `__torch_function__`."""
    return _originals.get(function, function)


def wrap(owner, name, make):
    """Replaces `owner.name` by what `make` makes of it; does nothing where a version lacks it."""
    function = getattr(owner, name, None)
    if function is None:
        return
    wrapper = make(function)
    try:
        functools.update_wrapper(wrapper, function)
    except (AttributeError, TypeError):
        pass
    _originals[wrapper] = function
    setattr(owner, name, wrapper)
