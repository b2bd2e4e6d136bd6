"""Finds who holds live tensors: the variable, attribute, list or closure that leads to them; and reference cycles.

The search goes from the tensors up, one level of references at a time:

    Tensor ← list ← Trainer instance ← local variable `trainer` of main
    says: trainer (local of main, train.py).losses[…]
"""

from __future__ import annotations

import gc
import types
from typing import Any

from .frames import locals_of_frames
from .hops import hop, join, terminal
from .naming import Named, named

# Levels of references above a tensor.
DEPTH = 12

# Holders that are listed.
MOST_HOLDERS = 50

_before: dict[str, tuple[int, int]] = {}


def holders(torch: Any) -> tuple[list[dict[str, Any]], list[Named]]:
    """Returns the holders of tensors on GPUs, those that grew since the last call first, and what each tensor is held by.
    """
    found = _held(torch)
    rows: list[dict[str, Any]] = []
    names: list[Named] = []
    for holder, row in found.items():
        names += row.pop("names")
        tensors, size = _before.get(holder, (0, 0))
        grown = {"grown_tensors": row["tensors"] - tensors, "grown_bytes": row["bytes"] - size} if _before else {}
        rows.append({"holder": holder, **row, **grown})
    _before.clear()
    _before.update({holder: (row["tensors"], row["bytes"]) for holder, row in found.items()})
    rows.sort(key=lambda row: (-row.get("grown_bytes", 0), -row["bytes"]))
    return rows[:MOST_HOLDERS], names


def _held(torch: Any) -> dict[str, dict[str, Any]]:
    # What is made from here on is not in the list, and so holds nothing.
    objects = gc.get_objects()
    tensors = [value for value in objects if _is_tensor(torch, value)]
    # For each object of this level, the path from it down to each of its tensors.
    level: dict[int, list[tuple[str, Any]]] = {id(tensor): [("", tensor)] for tensor in tensors}
    seen = set(level)
    found: dict[str, dict[str, Any]] = {}
    for tensor in tensors:
        # PyTorch holds it for the parameter.
        gradient = _gradient(tensor)
        if gradient is not None and id(gradient) in level:
            del level[id(gradient)]
            _add(found, "gradients of parameters", gradient)
    variables = locals_of_frames()
    # A function knows the names of the cells in this tuple.
    closures = {id(value.__closure__) for value in objects if type(value) is types.FunctionType}
    for _ in range(DEPTH):
        level = _take(level, variables, found)
        if not level:
            break
        level = _above(objects, level, seen, closures, found)
    for paths in level.values():
        for path, tensor in paths:
            _add(found, f"…{path}", tensor)
    for row in found.values():
        row["bytes"] = _bytes(row["names"])
    return found


def _take(level: Any, variables: dict[int, str], found: Any) -> Any:
    """Notes what local variables hold, and returns the rest."""
    rest = {}
    for key, paths in level.items():
        name = variables.get(key)
        if name is None:
            rest[key] = paths
            continue
        for path, tensor in paths:
            _add(found, name + path, tensor)
    return rest


def _above(objects: list[Any], level: Any, seen: set[int], closures: set[int], found: Any) -> Any:
    """Returns the objects that refer to those of a level; what a module of the program holds is noted."""
    above: dict[int, list[tuple[str, Any]]] = {}
    reached: set[int] = set()
    for value in objects:
        if value is objects or type(value) is types.FrameType or id(value) in closures or id(value) in seen:
            continue
        children = [child for child in _referents(value) if id(child) in level]
        for child in children:
            # Of several references, the first one is followed.
            if id(child) in reached:
                continue
            reached.add(id(child))
            step = hop(value, child)
            end = terminal(value)
            for path, tensor in level[id(child)]:
                if end is not None:
                    _add(found, end + join(step, path), tensor)
                else:
                    above.setdefault(id(value), []).append((join(step, path), tensor))
    seen.update(above)
    for key, paths in level.items():
        if key not in reached:
            for path, tensor in paths:
                _add(found, f"no known variable{path}" if path else "code in C++, such as a graph", tensor)
    return above


def _referents(value: Any) -> list[Any]:
    found = gc.get_referents(value)
    return [*found, *(value.__closure__ or ())] if type(value) is types.FunctionType else found


def _add(found: dict[str, dict[str, Any]], holder: str, tensor: Any) -> None:
    has_graph = _has_graph(tensor)
    name = named(tensor, f"held {'with its graph ' if has_graph else ''}by {holder}")
    if name is None:
        return
    row = found.setdefault(holder, {"tensors": 0, "with_graph": 0, "names": []})
    row["tensors"] += 1
    row["with_graph"] += has_graph
    row["names"].append(name)


def _bytes(names: list[Named]) -> int:
    """Returns the size of the memory; tensors can share theirs."""
    return sum({(name.device, name.address): name.size for name in names}.values())


def _has_graph(tensor: Any) -> bool:
    try:
        return tensor.grad_fn is not None
    except Exception:
        return False


def _gradient(tensor: Any) -> Any:
    try:
        return tensor.grad if tensor.is_leaf else None
    except Exception:
        return None


def cycles(torch: Any) -> list[dict[str, Any]]:
    """Collects garbage, and returns the tensors that only reference cycles held, by the types that refer to them."""
    if gc.get_debug() or gc.garbage:
        return []
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        garbage = list(gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    rows = _only_by_cycles(torch, garbage)
    # The program's next collection would come much later.
    garbage.clear()
    gc.collect()
    return rows[:MOST_HOLDERS]


def _only_by_cycles(torch: Any, garbage: list[Any]) -> list[dict[str, Any]]:
    tensors = {id(value): value for value in garbage if _is_tensor(torch, value)}
    found: dict[str, dict[str, Any]] = {}
    for value in garbage:
        for child in () if _is_tensor(torch, value) else gc.get_referents(value):
            tensor = tensors.pop(id(child), None)
            if tensor is not None:
                _add(found, f"{_type(value)}{hop(value, tensor)}", tensor)
    rows = [
        {"holder": holder, "tensors": row["tensors"], "bytes": _bytes(row["names"])}
        for holder, row in found.items()
    ]
    return sorted(rows, key=lambda row: -int(row["bytes"]))


def _is_tensor(torch: Any, value: Any) -> bool:
    # Not isinstance, which asks proxies for their class.
    try:
        return issubclass(type(value), torch.Tensor) and value.is_cuda
    except Exception:
        return False


def _type(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".replace("builtins.", "")
