"""Remedies on sizes: a part of the batch at a time, with gradients that add up; other batches; shorter sequences.

A size is where the script says it, in this order: arguments of a framework, the command line by `argparse`, a
constant of the script's own, and for batches the first `DataLoader` or each that shuffles. A smaller batch with the
same training needs the loss divided and steps left out, unless the script itself has a setting for that.
"""

import argparse
import ast
import functools
import os
import re

from ..notices import tried
from .places import calls, edit, enclosed, frames, imports_end, own_place, rewritten, statement

_BATCH = re.compile(r"((per_?device_?)?(train_?)?(device_?|micro_?|mini_?|local_?)?(batch_?size|bs|batch)(_?per_?gpu)?)$")
_LENGTH = re.compile(
    r"((model_)?max_|train_)?((seq(uence)?|context|ctx|cutoff)(_?len(gth)?)?|len(gth)?)|block_?size|(n|num)_(ctx|positions)"
)
_ACCUMULATION = re.compile(r"(grad(ient)?s?_?)?accum(ulat(e|ion))?(_?(grad|grads|steps|iter|iters|batches))*$")


# What the run was started with; the constants that were changed before the script ran, by remedy: name, size and place.
_options = {}
_constants = {}


def change_constants(tree, file, options):
    """Changes the first constant of a script that is the size of each remedy, in its syntax tree."""
    _options.update(options)
    for size in map(Size, filter(is_size, options.get("remedies", ()))):
        name, node = next((found for found in _numbers(tree) if size.is_named(found[0])), (None, None))
        if node is not None:
            own, new = node.value.value, size.changed(node.value.value)
            node.value.value = own if new is None else new
            _constants[size.name] = name, own, edit((file, node.lineno), "instead", ast.unparse(node))


def _numbers(tree):
    """Yields the constants of a script and the fields of its classes that are integers, as name and statement."""
    for node in tree.body:
        for one in (node, *(node.body if isinstance(node, ast.ClassDef) else ())):
            if not isinstance(one, (ast.Assign, ast.AnnAssign)):
                continue
            targets = getattr(one, "targets", None) or [one.target]
            number = getattr(one.value, "value", None)
            if len(targets) == 1 and isinstance(targets[0], ast.Name) and type(number) is int:
                yield targets[0].id, one


def is_size(name):
    """Returns true for the name of a remedy that changes a size."""
    return name.startswith(("microbatch-", "batch-", "length-"))


class Size:
    """A size of the script that a remedy changes, to another or to a part of it."""

    def __init__(self, name, site=None):
        kind, number = name.rsplit("-", 1)
        self.name = name
        self.site = site
        self.is_length = kind == "length"
        self.wanted = int(number) if kind == "batch" else None
        self.parts = 2 if self.is_length else 1 if kind == "batch" else int(number)

    def is_named(self, name):
        """Returns true for a name of this size in a training, or the one that the user has given."""
        plain = name.lower().lstrip("_-").replace("-", "_")
        knob = not self.is_length and _options.get("knob")
        if knob:
            return plain == knob.lower().lstrip("_-").replace("-", "_")
        return bool((_LENGTH if self.is_length else _BATCH).fullmatch(plain))

    def changed(self, size):
        """Returns the wanted size; None if the parts would not be whole."""
        if self.wanted is not None:
            return self.wanted
        return size // self.parts if size % self.parts == 0 and size >= self.parts else None

    def change(self, source, size):
        """Returns the wanted size, and notes what was changed; None if it cannot be."""
        new = self.changed(size)
        if new is None:
            self.site.refuse(f"a {'length' if self.is_length else 'batch'} of {size} does not divide by {self.parts}")
            return None
        if not self.is_length:
            self.site.facts["batch"] = new
        self.site.apply(f"{source}: {new} instead of {size}")
        return new


def watch(torch, site, batch):
    """Changes a size where the script says it, and for a part of a batch adds an accumulation unless it has its own."""
    state = {"is_whole": False, "loaders": 0}
    if site.name in _constants:
        name, size, line = _constants[site.name]
        batch.change(name, size)
        site.apply(next(iter(site.facts["applied"]), name), line)
    parse = argparse.ArgumentParser.parse_known_args

    @functools.wraps(parse)
    def parse_known_args(self, *args, **kwargs):
        found = parse(self, *args, **kwargs)
        tried(None, of_arguments, self, found[0])
        return found

    def of_arguments(parser, namespace):
        if site.is_settled:
            return
        values = vars(namespace)
        sizes = [name for name, value in values.items() if type(value) is int and batch.is_named(name)]
        more = [name for name, value in values.items() if type(value) is int and _ACCUMULATION.fullmatch(name.lower())]
        if not sizes:
            return
        new = batch.change(_flag(parser, sizes[0]), values[sizes[0]])
        if new is None:
            return
        setattr(namespace, sizes[0], new)
        text = f"{_flag(parser, sizes[0])} {new}"
        if more and batch.parts > 1 and not batch.is_length:
            state["is_whole"] = True
            setattr(namespace, more[0], max(values[more[0]], 1) * batch.parts)
            text += f" {_flag(parser, more[0])} {getattr(namespace, more[0])}"
        site.apply(text, {"where": "command", "text": text})

    argparse.ArgumentParser.parse_known_args = parse_known_args
    if batch.is_length:
        return

    loader = torch.utils.data.DataLoader
    begin = loader.__init__

    @functools.wraps(begin)
    def __init__(self, *args, **kwargs):
        args, kwargs = tried((args, kwargs), of_loader, args, kwargs)
        begin(self, *args, **kwargs)

    def of_loader(args, kwargs):
        size = kwargs.get("batch_size", args[1] if len(args) > 1 else 1)
        shuffles = kwargs.get("shuffle", args[2] if len(args) > 2 else False) or kwargs.get("sampler")
        is_first = not state["loaders"]
        if state.get("is_elsewhere", site.facts.get("batch") and not state["loaders"]) or type(size) is not int:
            state["is_elsewhere"] = True
            return args, kwargs
        if not (is_first or shuffles):
            return args, kwargs
        place = own_place()
        new = batch.change(f"DataLoader at line {place[1]}" if place else "DataLoader", size)
        if new is None:
            return args, kwargs
        state["loaders"] += 1

        def written(call):
            given = [one for one in call.keywords if one.arg == "batch_size"]
            value = ast.Constant(new)
            if given:
                given[0].value = value
            elif len(call.args) > 1:
                call.args[1] = value
            else:
                call.keywords.append(ast.keyword("batch_size", value))

        site.apply(site.facts["applied"][-1], rewritten(place, "DataLoader", written))
        if len(args) > 1:
            return (args[0], new, *args[2:]), kwargs
        return args, {**kwargs, "batch_size": new}

    loader.__init__ = __init__
    if batch.parts > 1:
        _mind_normalization(torch, site)
        _Gate(torch, site, batch.parts, state).install()


def _mind_normalization(torch, site):
    kind = torch.nn.modules.batchnorm._BatchNorm
    forward = kind.forward

    @functools.wraps(forward)
    def told(self, *args, **kwargs):
        if self.training:
            site.facts["changes"] = "batch normalization sees smaller batches"
        return forward(self, *args, **kwargs)

    kind.forward = told


def _flag(parser, name):
    strings = [text for action in parser._actions if action.dest == name for text in action.option_strings]
    return max(strings, key=len, default=name)


class _Gate:
    """Lets a training step only after several passes, whose gradients add up."""

    def __init__(self, torch, site, parts, state):
        self.torch = torch
        self.site = site
        self.parts = parts
        self.state = state
        self.passes = 0
        self.is_inside = False
        self.optimizers = set()

    def install(self):
        torch = self.torch
        optimizer = torch.optim.Optimizer
        for owner, name, kind in (
            (torch.amp.GradScaler, "step", "step"),
            (torch.amp.GradScaler, "update", "after"),
            (torch.amp.GradScaler, "unscale_", "before"),
            (torch.nn.utils, "clip_grad_norm_", "before"),
            (torch.nn.utils, "clip_grad_value_", "before"),
            (torch.optim.lr_scheduler.LRScheduler, "step", "after"),
            (optimizer, "zero_grad", "after"),
            (torch.nn.Module, "zero_grad", "after"),
        ):
            self.wrap(owner, name, kind)
        for owner in vars(torch.optim.lr_scheduler).values():
            if isinstance(owner, type) and "step" in vars(owner) and owner is not torch.optim.lr_scheduler.LRScheduler:
                self.wrap(owner, "step", "after")
        # Steps are wrapped once a class is used, behind PyTorch's own wrapper.
        begin = optimizer.__init__
        gate = self

        @functools.wraps(begin)
        def __init__(self, *args, **kwargs):
            begin(self, *args, **kwargs)
            tried(None, gate.wrap_steps, type(self))

        optimizer.__init__ = __init__
        backward = torch.Tensor.backward

        @functools.wraps(backward)
        def divided(self, *args, **kwargs):
            if gate.is_off():
                return backward(self, *args, **kwargs)
            tried(None, gate.tell_backward)
            return backward(self / gate.parts, *args, **kwargs)

        torch.Tensor.backward = divided

    def wrap_steps(self, kind):
        if not getattr(kind, "_is_gated", False):
            kind._is_gated = True
            self.wrap(kind, "step", "step")

    def is_off(self):
        return self.state["is_whole"] or bool(self.site.facts.get("settings")) or not self.site.is_settled

    def tell_backward(self):
        place = own_place()
        if not self.site.once("backward", place):
            return

        def divide(call):
            # A framework's function takes the loss as its argument.
            part = ast.BinOp(call.args[0] if call.args else call.func.value, ast.Div(), ast.Constant(self.parts))
            if call.args:
                call.args[0] = part
            else:
                call.func.value = part

        line = rewritten(place, "backward", divide)
        self.site.apply("the loss is divided", line)
        if line is None:
            self.site.refuse("no line of the script's own starts the backward pass")

    def wrap(self, owner, name, kind):
        function = getattr(owner, name)
        gate = self

        @functools.wraps(function)
        def call(*args, **kwargs):
            node = None if gate.is_off() or gate.is_inside else tried(None, gate.node, name)
            if node is None:
                return function(*args, **kwargs)
            if kind == "step":
                gate.passes += 1
                # The scaler's first argument is the scaler.
                one = args[1] if len(args) > 1 and isinstance(args[1], gate.torch.optim.Optimizer) else args[0]
                gate.optimizers.add(id(one))
                if len(gate.optimizers) > 1:
                    gate.site.refuse("several optimizers step in turn, and each would need a count of its own")
            if gate.site.once(name, node):
                tried(None, gate.tell, node, name, kind)
            if (gate.passes + (kind == "before")) % gate.parts:
                is_norm = name == "clip_grad_norm_"
                return gate.torch.zeros(()) if is_norm else None
            gate.is_inside = True
            try:
                return function(*args, **kwargs)
            finally:
                gate.is_inside = False

        setattr(owner, name, call)

    def node(self, name):
        """Returns the place if the user's own line makes this call itself."""
        frame = next(frames(), None)
        place = (frame.f_code.co_filename, frame.f_lineno) if frame is not None else None
        found = statement(*place) if place else None
        is_simple = isinstance(found, (ast.Expr, ast.Assign))
        return place if is_simple and calls(found, name) else None

    def tell(self, place, name, kind):
        condition = f"PASSES[0] % {self.parts} == 0" if kind != "before" else f"(PASSES[0] + 1) % {self.parts} == 0"

        def wrap(body):
            tree = ast.parse(f"if {condition}:\n    pass")
            if isinstance(body[0], ast.Assign):
                tree = ast.parse(f"x = y if {condition} else torch.zeros(())")
                tree.body[0].targets, tree.body[0].value.body = body[0].targets, body[0].value
            else:
                tree.body[0].body = body
            return tree.body

        counter = edit((place[0], imports_end(place[0])), "before", "PASSES = [0]  # of forward and backward so far")
        before = "PASSES[0] += 1" if kind == "step" else ""
        self.site.apply(f"line {place[1]}: each {self.parts} passes", counter, enclosed(place, name, before, wrap))


def remedy(torch, site):
    """Applies `microbatch-PARTS`, `batch-SIZE` or `length-half`."""
    _options.update(site.options)
    watch(torch, site, Size(site.name, site))
