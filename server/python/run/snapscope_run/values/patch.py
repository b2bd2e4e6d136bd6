"""Replaces functions of PyTorch by wrappers, and finds the functions behind them."""

import ctypes
import functools
import sys
import sysconfig

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


# Places of pointers in CPython's structures: the sequence methods of a type, and the function of items among them.
_SEQUENCE = 104
_ITEM = 24


def wrap_index(owner, make):
    """Wraps `owner.__getitem__` so that instances are no sequences for C code, as before.

    A `__getitem__` in Python makes CPython set the functions of both mappings and sequences, and PyTorch's C++ code then
    takes a tensor without dimensions for a list.
    """
    if sysconfig.get_config_var("Py_GIL_DISABLED") or sys.implementation.name != "cpython" or _item(owner).value:
        return
    wrap(owner, "__getitem__", make)

    def clear(kind):
        _item(kind).value = None
        for below in type.__subclasses__(kind):
            clear(below)

    def init_subclass(cls, **kwargs):
        super(owner, cls).__init_subclass__(**kwargs)
        _item(cls).value = None

    clear(owner)
    owner.__init_subclass__ = classmethod(init_subclass)


def _item(kind):
    """Returns the pointer to the function that a type has for items of a sequence."""
    methods = ctypes.c_void_p.from_address(id(kind) + _SEQUENCE).value
    return ctypes.c_void_p.from_address(methods + _ITEM) if methods else ctypes.c_void_p()
