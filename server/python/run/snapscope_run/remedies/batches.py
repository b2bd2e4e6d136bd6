"""Remedies on sizes: a part of the batch at a time, with gradients that add up; other batches; shorter sequences.

A size is where the script says it, in this order: arguments of a framework, a word of the command or a default of
`argparse`, a constant of the script's own, and for batches the first `DataLoader` or each that shuffles. A smaller batch
with the same training needs the loss divided and steps left out, unless the script itself has a setting for that.
"""

import argparse
import ast
import functools
import os
import re
import sys

from ..notices import tried
from .places import calls, edit, enclosed, frames, imports_end, own_place, rewritten, statement

_BATCH = re.compile(r"((per_?device_?)?(train_?)?(device_?|micro_?|mini_?|local_?)?(batch_?size|bs|batch)(_?per_?gpu)?)$")
_LENGTH = re.compile(
    r"((model_)?max_|train_)?((seq(uence)?|context|ctx|cutoff)(_?len(gth)?)?|len(gth)?)|block_?size|bptt|(n|num)_(ctx|positions)"
)
_ACCUMULATION = re.compile(r"(grad(ient)?s?_?)?accum(ulat(e|ion))?(_?(grad|grads|steps|iter|iters|batches))*$")


# What the run was started with; the sizes that were changed before the script ran, by remedy: what each place says.
_options = {}
_changed = {}


def change(tree, file, options):
    """Changes the size of each remedy in the words of the command, or else in the syntax tree of the script."""
    _options.update(options)
    for size in map(Size, filter(is_size, options.get("remedies", ()))):
        one = _place(tree, file, size.is_named)
        if one is None:
            continue
        new = size.changed(one.value)
        _changed[size.name] = [(one.name, one.value, None if new is None else one.write(new))]
        is_part = new is not None and size.parts > 1 and not size.is_length
        more = _place(tree, file, _ACCUMULATION.fullmatch) if is_part else None
        if more is not None:
            _changed[size.name].append((more.name, more.value, more.write(more.value * size.parts)))


def _place(tree, file, is_wanted):
    """Returns the place that says a size; None if there is none. The command comes before the script."""
    return next((one for one in (*_words(), *_constants(tree, file)) if is_wanted(_plain(one.name))), None)


class _Word:
    """A number in the command: `--batch-size 8`, `--batch_size=8` or `train.batch_size=8`."""

    def __init__(self, name, joint, value):
        self.name = name
        self.joint = joint
        self.value = value

    def write(self, new):
        """Adds the word once more, of which the last one counts; returns the edit."""
        text = f"{self.name}{self.joint}{new}"
        sys.argv += text.split()
        return {"where": "command", "text": text}


def _words():
    """Yields the numbers in the command, the last first."""
    words = sys.argv[1:]
    for word, following in reversed(list(zip(words, [*words[1:], ""]))):
        name, joint, value = word.partition("=")
        if not joint and word.startswith("-"):
            joint, value = " ", following
        if value.isdecimal():
            yield _Word(name, joint, int(value))


class _Constant:
    """A constant of a script, or a field of one of its classes: a number, or arithmetic with numbers."""

    def __init__(self, file, node, name, value):
        self.file = file
        self.node = node
        self.name = name
        self.value = value

    def write(self, new):
        """Changes the syntax tree, and returns the edit."""
        self.node.value = ast.copy_location(ast.Constant(new), self.node.value)
        return edit((self.file, self.node.lineno), "instead", ast.unparse(self.node))


def _constants(tree, file):
    """Yields the constants of a script and the fields of its classes that are integers."""
    for node in tree.body:
        for one in (node, *(node.body if isinstance(node, ast.ClassDef) else ())):
            if not isinstance(one, (ast.Assign, ast.AnnAssign)):
                continue
            targets = getattr(one, "targets", None) or [one.target]
            number = _number(one.value)
            if len(targets) == 1 and isinstance(targets[0], ast.Name) and number is not None:
                yield _Constant(file, one, targets[0].id, number)


def _number(node):
    """Returns the integer that a number or arithmetic with numbers is; None for all else."""
    if node is None or not all(isinstance(one, (ast.Constant, ast.BinOp, ast.operator)) for one in ast.walk(node)):
        return None
    try:
        value = eval(compile(ast.Expression(node), "", "eval"))
    except (ArithmeticError, TypeError):
        return None
    return value if type(value) is int else None


def _plain(name):
    """Returns a name without dashes and what is before its last dot."""
    return name.rsplit(".", 1)[-1].lower().lstrip("_-").replace("-", "_")


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
        knob = not self.is_length and _options.get("knob")
        if knob:
            return _plain(name) == _plain(knob)
        return bool((_LENGTH if self.is_length else _BATCH).fullmatch(_plain(name)))

    def changed(self, size):
        """Returns the wanted size; None if a batch would not have whole parts."""
        if self.wanted is not None:
            return self.wanted
        if self.is_length and size > 1:
            return size // self.parts
        return size // self.parts if size % self.parts == 0 and size >= self.parts else None

    def change(self, source, size):
        """Returns the wanted size, and notes it and the script's own; None if it cannot be."""
        if not self.is_length:
            self.site.facts["batch"] = size
        new = self.changed(size)
        if new is None:
            self.site.refuse(f"a {'length' if self.is_length else 'batch'} of {size} does not divide by {self.parts}")
            return None
        self.site.apply(f"{source}: {new} instead of {size}")
        return new


def watch(torch, site, batch):
    """Changes a size where the script says it, and for a part of a batch adds an accumulation unless it has its own."""
    state = {"is_whole": False, "loaders": 0}
    for place, (name, size, line) in enumerate(_changed.get(site.name, ())):
        if place:
            state["is_whole"] = True
            site.apply(f"{name}: {size * batch.parts} instead of {size}", line)
        elif batch.change(name, size) is not None:
            site.apply(site.facts["applied"][0], line)
            state["is_word"] = line is not None and line["where"] == "command"
    parse = argparse.ArgumentParser.parse_known_args

    @functools.wraps(parse)
    def parse_known_args(self, *args, **kwargs):
        found = parse(self, *args, **kwargs)
        tried(None, of_arguments, self, found[0])
        return found

    def of_arguments(parser, namespace):
        is_word = state.get("is_word")
        if site.is_settled and not is_word or state["is_whole"]:
            return
        values = vars(namespace)
        sizes = [name for name, value in values.items() if type(value) is int and batch.is_named(name)]
        more = [name for name, value in values.items() if type(value) is int and _ACCUMULATION.fullmatch(_plain(name))]
        if not sizes:
            return
        text = ""
        if not is_word:
            new = batch.change(_flag(parser, sizes[0]), values[sizes[0]])
            if new is None:
                return
            setattr(namespace, sizes[0], new)
            text = f"{_flag(parser, sizes[0])} {new}"
        if more and batch.parts > 1 and not batch.is_length:
            state["is_whole"] = True
            setattr(namespace, more[0], max(values[more[0]], 1) * batch.parts)
            text = f"{text} {_flag(parser, more[0])} {getattr(namespace, more[0])}".strip()
        if text:
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
