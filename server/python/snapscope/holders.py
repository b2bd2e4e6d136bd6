"""Finds who holds live tensors: the variable, attribute, list or closure that leads to them; and reference cycles.

The search goes from the tensors up, one level of references at a time, until it meets variables, modules, functions and
classes. From these it goes down again, so that each tensor is named by the shortest way to it:

    Tensor ← list ← Trainer instance ← local variable `trainer` of main
    says: trainer (local of main, train.py).losses[…]

Only what existed before the search began is searched.
"""

from __future__ import annotations

import collections
import gc
import types
from typing import Any

from .frames import locals_of_frames
from .hops import attributes, hop, join, terminal
from .naming import Named, named

# Levels of references above a tensor.
DEPTH = 12

# Objects that refer to one object, of those that are followed; the others lead to the same tensor.
MOST_REFERRERS = 16

# Holders that are listed.
MOST_HOLDERS = 50

# Holder of tensors that no object of Python refers to.
_NO_PYTHON = "code in C++, such as a graph"

# Holder of tensors to which no variable leads.
_UNKNOWN = "no known variable"

_before: dict[str, tuple[int, int]] = {}


def holders(torch: Any) -> tuple[list[dict[str, Any]], list[Named]]:
    """Returns the holders of tensors on GPUs, those that grew since the last call first, and the tensors' names."""
    found = _held(torch)
    rows: list[dict[str, Any]] = []
    names: list[Named] = []
    for holder, row in found.items():
        held = row.pop("names")
        if not holder.startswith((_NO_PYTHON, _UNKNOWN)):
            names += held
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
    tensors = {id(value): value for value in objects if _is_tensor(torch, value)}
    found: dict[str, dict[str, Any]] = {}
    for tensor in list(tensors.values()):
        # PyTorch holds it for the parameter.
        gradient = _gradient(tensor)
        if gradient is not None and tensors.pop(id(gradient), None) is not None:
            _add(found, "gradients of parameters", gradient)
    references = _References(objects, tensors)
    for tensor in tensors.values():
        _add(found, references.holder(tensor), tensor)
    for row in found.values():
        row["bytes"] = _bytes(row["names"])
    return found


class _References:
    """The references that lead to some objects."""

    def __init__(self, objects: list[Any], wanted: dict[int, Any]) -> None:
        self.variables, self.of_libraries, self.running = locals_of_frames()
        # A function knows the names of the cells in this tuple.
        self.closures = {id(value.__closure__) for value in objects if type(value) is types.FunctionType}
        # The objects that refer to an object, by its id.
        self.above: dict[int, list[Any]] = {}
        level = wanted
        for _ in range(DEPTH):
            level = self._climb(objects, level)
            if not level:
                break
        # The next object on the shortest way up from an object, by its id; None for a name.
        self.way: dict[int, Any] = self._ways(wanted)

    def _climb(self, objects: list[Any], level: dict[int, Any]) -> dict[int, Any]:
        """Adds what refers to the objects of a level, and returns those of the next level."""
        for key in level:
            self.above[key] = []
        for value in objects:
            if value is objects or id(value) in self.running or id(value) in self.closures:
                continue
            for child in _referents(value):
                if id(child) in level and child is not value and not _is_key(value, child):
                    if len(self.above[id(child)]) < MOST_REFERRERS:
                        self.above[id(child)].append(value)
        # The way up ends at a name.
        unnamed = (self.above[key] for key in level if not any(map(self._name, self.above[key])))
        return {id(value): value for values in unnamed for value in values if id(value) not in self.above}

    def _name(self, value: Any) -> str | None:
        """Returns the name of what needs no holder."""
        return self.variables.get(id(value)) or terminal(value)

    def _ways(self, wanted: dict[int, Any]) -> dict[int, Any]:
        known = {**wanted, **{id(value): value for values in self.above.values() for value in values}}
        below: dict[int, list[Any]] = {}
        for key, values in self.above.items():
            for value in values:
                below.setdefault(id(value), []).append(known[key])
        ways: dict[int, Any] = {}
        variables = [value for value in known.values() if id(value) in self.variables]
        terminals = [value for value in known.values() if id(value) not in self.variables and terminal(value)]
        # A variable of a library's function that just runs is the name of what nothing else leads to.
        of_libraries = [value for value in known.values() if id(value) in self.of_libraries]
        for named in variables + terminals, of_libraries:
            new = [value for value in named if id(value) not in ways]
            ways.update((id(value), None) for value in new)
            queue = collections.deque(new)
            while queue:
                value = queue.popleft()
                for child in below.get(id(value), ()):
                    if id(child) not in ways:
                        ways[id(child)] = value
                        queue.append(child)
        return ways

    def holder(self, value: Any) -> str:
        """Returns the name that leads to an object, and the way from there."""
        path = ""
        seen: set[int] = set()
        while self.way.get(id(value)) is not None or id(value) not in self.way:
            seen.add(id(value))
            above = [other for other in self.above.get(id(value), ()) if id(other) not in seen]
            holder = self.way.get(id(value)) or (above[0] if above else None)
            if holder is None:
                return f"{_UNKNOWN}{path}" if path else _NO_PYTHON
            path = join(hop(holder, value), path)
            value = holder
        return f"{self._name(value) or self.of_libraries[id(value)]}{path}"


def _referents(value: Any) -> list[Any]:
    found = gc.get_referents(value)
    return [*found, *(value.__closure__ or ())] if type(value) is types.FunctionType else found


def _is_key(holder: Any, child: Any) -> bool:
    """Returns true for what a dictionary is about, as an optimizer's state is about parameters; others hold it, too."""
    try:
        return issubclass(type(holder), dict) and dict.__contains__(holder, child)
    except Exception:
        return False


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


def cycles(torch: Any) -> tuple[list[dict[str, Any]], list[Named]]:
    """Collects garbage; returns what only reference cycles held, by the types that refer to it, and its names."""
    if gc.get_debug() or gc.garbage:
        return [], []
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        garbage = list(gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    found = _only_by_cycles(torch, garbage)
    # The program's next collection would come much later.
    garbage.clear()
    gc.collect()
    names = [
        name._replace(text=f"held by a reference cycle: {holder}")
        for holder, row in found.items()
        for name in row["names"]
    ]
    rows = [
        {"holder": holder, "tensors": row["tensors"], "bytes": _bytes(row["names"])} for holder, row in found.items()
    ]
    rows.sort(key=lambda row: -int(row["bytes"]))
    return rows[:MOST_HOLDERS], names


def _only_by_cycles(torch: Any, garbage: list[Any]) -> dict[str, dict[str, Any]]:
    tensors = {id(value): value for value in garbage if _is_tensor(torch, value)}
    owners = {id(attributes(value)): value for value in garbage if type(value) is not dict}
    found: dict[str, dict[str, Any]] = {}
    for value in garbage:
        for child in () if _is_tensor(torch, value) else gc.get_referents(value):
            tensor = tensors.pop(id(child), None)
            if tensor is not None:
                holder = owners.get(id(value), value)
                _add(found, f"{_type(holder)}{hop(holder, tensor)}", tensor)
    return found


def _is_tensor(torch: Any, value: Any) -> bool:
    # Not isinstance, which asks proxies for their class.
    try:
        return issubclass(type(value), torch.Tensor) and value.is_cuda
    except Exception:
        return False


def _type(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".replace("builtins.", "")
