"""Names a reference from one object to another as a program would write it."""

from __future__ import annotations

import re
import sys
import types
from typing import Any

# Dictionaries of torch.nn.Module; names of single parameters or layers would make a holder of each.
_MODULES = {"._parameters": ".parameters", "._buffers": ".buffers"}

# A submodule at any depth.
_BELOW = ".…"

# What `hop` returns between an object and the dictionary of its attributes.
_ATTRIBUTES = "\0"

_KEY = re.compile(r"^\[(?:'([A-Za-z_][A-Za-z_0-9]*)'|…)\]")


def join(step: str, path: str) -> str:
    """Puts a reference before a path: the key of an attribute becomes `.name`, and that of a submodule `.…`."""
    if step == _ATTRIBUTES:
        key = _KEY.match(path)
        if key is None:
            return path
        step, path = f".{key[1]}" if key[1] else key[0], path[key.end() :]
    if step == "._modules":
        path = _KEY.sub("", path)
        return path if path.startswith((_BELOW, *_MODULES.values())) else _BELOW + path
    if step in _MODULES:
        return _MODULES[step] + _KEY.sub("", path)
    return step + path


def hop(holder: Any, child: Any) -> str:
    """Returns `.name`, `[…]` or `(closure)` for the reference of a holder to a child."""
    # Not isinstance, which asks proxies for their class.
    kind = type(holder)
    if issubclass(kind, dict):
        return _key(holder, child)
    if kind is types.CellType:
        return ""
    if kind is types.FunctionType:
        return _function(holder, child)
    if kind is types.MethodType:
        return "" if holder.__self__ is child else ".__func__"
    if kind is types.FrameType:
        return _local(holder, child)
    if kind is types.GeneratorType and holder.gi_frame is not None:
        return _local(holder.gi_frame, child)
    if kind is types.TracebackType or kind.__name__ == "_lru_list_elem":
        return ""
    if type(child) is types.TracebackType:
        return ".__traceback__"
    if kind.__name__ == "_lru_cache_wrapper":
        return " (cache)" if type(child) is dict else " (cache)[…]"
    own = attributes(holder)
    # A class shows only a proxy of its dictionary.
    if own is child or issubclass(kind, type) and type(child) is dict:
        return _ATTRIBUTES
    for name, value in own.items() if type(own) is dict else ():
        if value is child:
            return f".{name}"
    if issubclass(kind, (list, tuple, set, frozenset)) or hasattr(kind, "__len__"):
        return "[…]"
    # Where the object is of C, its type says how it holds something, as `itertools.cycle` does.
    return f" ({kind.__module__}.{kind.__qualname__})"


def terminal(value: Any) -> str | None:
    """Returns the name of what needs no holder: a module, a function, a class."""
    kind = type(value)
    if kind is dict:
        name = value.get("__name__")
        module = sys.modules.get(name) if type(name) is str else None
        return name if type(module) is types.ModuleType and module.__dict__ is value else None
    if kind is types.FunctionType:
        return f"function {value.__module__}.{value.__qualname__}"
    if kind is types.ModuleType:
        return str(value.__name__)
    if kind is type:
        return f"class {value.__module__}.{value.__qualname__}"
    return None


def _key(holder: dict[Any, Any], child: Any) -> str:
    """Names a value by its key if that is a name, and by its place otherwise."""
    for key, value in holder.items():
        if value is child:
            is_name = type(key) is str and key.isidentifier()
            if is_name and terminal(holder) is not None:
                return f".{key}"
            return f"[{key!r}]" if is_name else "[…]"
        if key is child:
            return " (a key)"
    return "[…]"


def _local(frame: types.FrameType, child: Any) -> str:
    """Names a local variable of a generator, or of a function whose frame an exception's traceback keeps."""
    for name, value in frame.f_locals.items():
        if value is child:
            return f" ({name} of {frame.f_code.co_name})"
    return ""


def _function(holder: types.FunctionType, child: Any) -> str:
    names = holder.__code__.co_freevars
    for name, cell in zip(names, holder.__closure__ or ()):
        try:
            if cell is child or cell.cell_contents is child:
                return f" (closure {name})"
        except ValueError:
            # An empty cell.
            continue
    return " (default)" if child is holder.__defaults__ or child is holder.__kwdefaults__ else ""


def attributes(value: Any) -> Any:
    """Returns the attributes of an object, without asking the object itself."""
    try:
        return object.__getattribute__(value, "__dict__")
    except Exception:
        return {}
