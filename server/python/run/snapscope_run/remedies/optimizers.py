"""Remedies on optimizers: how they step, what they keep, and when gradients are freed."""

import ast
import functools
import importlib.util
import inspect
import sys
import types

from ..notices import guarded, tried
from .places import edit, own_place, rewritten, statement, calls, with_keywords


def _classes(torch):
    """Returns the classes of optimizers of PyTorch's own."""
    base = torch.optim.Optimizer
    named = vars(torch.optim).values()
    return [one for one in named if isinstance(one, type) and issubclass(one, base) and one is not base]


def _on_construction(torch, before=None, after=None):
    """Calls functions around the construction of an optimizer of PyTorch's: before may change the keywords."""

    def wrap(kind):
        begin = kind.__init__

        @functools.wraps(begin)
        def __init__(self, *args, **kwargs):
            is_outermost = type(self) is kind
            if is_outermost and before is not None:
                tried(None, before, self, kwargs)
            begin(self, *args, **kwargs)
            if is_outermost and after is not None:
                tried(None, after, self)

        kind.__init__ = __init__

    for kind in _classes(torch):
        wrap(kind)


def _named(place, optimizer):
    return f"{type(optimizer).__name__} at line {place[1]}" if place else type(optimizer).__name__


def _keyword(site, torch, name, value, others):
    """Gives a keyword to the optimizers that know it, unless the script says how they step."""
    known = {kind: inspect.signature(kind.__init__).parameters for kind in _classes(torch)}

    def before(optimizer, kwargs):
        if name not in known[type(optimizer)] or any(kwargs.get(other) is not None for other in (name, *others)):
            return
        kwargs[name] = value
        place = own_place()
        change = with_keywords(**{name: value})
        site.apply(_named(place, optimizer), rewritten(place, type(optimizer).__name__, change))

    if not site.is_settled:
        _on_construction(torch, before=before)


def _foreach_off(torch, site):
    _keyword(site, torch, "foreach", False, ("fused",))


def _fused(torch, site):
    _keyword(site, torch, "fused", True, ("foreach",))


def _replace(text):
    """Returns a remedy that makes another optimizer in place of Adam and AdamW; it is imported when it is made."""
    module, name_of_other = text.rsplit(".", 1)
    package = module.split(".")[0] if not module.startswith("torch") else None

    def remedy(torch, site):
        if package is not None and importlib.util.find_spec(package) is None:
            return site.refuse(f"{package} is not installed (pip install {package})")
        if package is None and not hasattr(torch.optim, name_of_other):
            return site.refuse(f"this PyTorch has no torch.optim.{name_of_other}")

        def make(name):
            def __new__(kind, *args, **kwargs):
                if kind.__name__ != name or site.is_settled and site.facts["settings"]:
                    return object.__new__(kind)
                other = getattr(importlib.import_module(module), name_of_other)
                known = inspect.signature(other.__init__).parameters
                kept = {key: value for key, value in kwargs.items() if key in known}
                place = own_place()
                made = other(*args, **kept)

                def change(call):
                    call.func = ast.parse(text, mode="eval").body
                    call.keywords = [one for one in call.keywords if one.arg is None or one.arg in known]

                site.apply(_named(place, made), _imported(place, text), rewritten(place, name, change))
                return made

            return __new__

        for kind in (torch.optim.Adam, torch.optim.AdamW):
            kind.__new__ = staticmethod(make(kind.__name__))

    return remedy


def _imported(place, text):
    module = text.split(".")[0]
    return edit(place, "before", f"import {module}") if module != "torch" else None


def _shard(torch, site):
    """Leaves each rank the state of a part of the parameters; the ranks tell each other what they have stepped."""
    making = []

    def make(kind):
        begin = kind.__new__

        def __new__(new, *args, **kwargs):
            distributed = torch.distributed
            if new is not kind or making:
                return begin(new)
            if not distributed.is_initialized() or distributed.get_world_size() == 1:
                site.refuse("there are no other ranks: --world 8 runs a script of eight as the first of them")
                return begin(new)
            importlib.import_module("torch.distributed.optim")
            making.append(True)
            try:
                made = distributed.optim.ZeroRedundancyOptimizer(*args, optimizer_class=kind, **kwargs)
            finally:
                making.pop()

            def change(call):
                call.keywords.insert(0, ast.keyword("optimizer_class", call.func))
                call.func = ast.Name("ZeroRedundancyOptimizer")

            place = own_place()
            imported = edit(place, "before", "from torch.distributed.optim import ZeroRedundancyOptimizer")
            site.apply(_named(place, made), imported, rewritten(place, kind.__name__, change))
            return made

        kind.__new__ = staticmethod(__new__)

    for kind in (torch.optim.Adam, torch.optim.AdamW):
        make(kind)


def receiver_rewritten(place, name, template, then=None):
    """Returns an edit of a call `RECEIVER.NAME(…)`, whose function becomes the template, filled with the receiver.

    With a statement `then` behind it, the receiver becomes the first argument. None if the call is not there.
    """

    def change(call):
        receiver = ast.unparse(call.func.value)
        call.func = ast.parse(template.format(f"({receiver})"), mode="eval").body
        if then is not None:
            call.args.insert(0, ast.parse(receiver, mode="eval").body)

    node = statement(*place) if place else None
    found = calls(node, name) if node is not None else []
    return rewritten(place, name, change, then) if found and isinstance(found[0].func, ast.Attribute) else None


def on_step(torch, function):
    """Calls `function(optimizer, step, *args, **kwargs)` instead of the steps of optimizers that are made from now on.

    Within it, `optimizer.step` is the original again.
    """
    base = torch.optim.Optimizer
    begin = base.__init__

    @functools.wraps(begin)
    def __init__(self, *args, **kwargs):
        begin(self, *args, **kwargs)

        def step(optimizer, *args, **kwargs):
            instead = optimizer.__dict__.pop("step", None)
            try:
                return function(optimizer, *args, **kwargs)
            finally:
                if instead is not None:
                    optimizer.step = instead

        self.step = types.MethodType(step, self)

    base.__init__ = __init__


def _gradients_early(torch, site):
    """Frees gradients right after the step, where the script frees them right before the next backward pass."""
    cleared = [False]
    base = torch.optim.Optimizer
    for owner in (base, torch.nn.Module):
        zero = owner.zero_grad

        def zero_grad(self, *args, _zero=zero, **kwargs):
            cleared[0] = True
            return _zero(self, *args, **kwargs)

        owner.zero_grad = functools.wraps(zero)(zero_grad)

    @guarded
    def after(optimizer, args, kwargs):
        parameters = [one for group in optimizer.param_groups for one in group["params"] if one.grad is not None]
        if site.facts["applied"] and not cleared[0]:
            site.refuse("the script adds up the gradients of several steps")
        cleared[0] = False
        for one in parameters:
            one.grad = None
        place = own_place()
        node = statement(*place) if place else None
        found = calls(node, "step") if node is not None and not hasattr(node, "body") else []
        receiver = found and isinstance(found[0].func, ast.Attribute) and found[0].func.value
        if found and found[0].args and isinstance(found[0].args[0], ast.Name):
            # That of a scaler.
            receiver = found[0].args[0]
        text = f"{ast.unparse(receiver)}.zero_grad(set_to_none=True)" if receiver else None
        site.apply(_named(place, optimizer), edit(place, "after", text) if text else None)

    sys.modules["torch.optim.optimizer"].register_optimizer_step_post_hook(after)


_IN_BACKWARD = """\
def _step_in_backward(optimizer):
    small = {}
    for group in optimizer.param_groups:
        for one in group["params"]:
            small[one] = type(optimizer)([{**group, "params": [one]}]), group

    def step_now(parameter):
        one, group = small[parameter]
        one.param_groups[0]["lr"] = group["lr"]
        one.step()
        parameter.grad = None

    for one in small:
        if one.requires_grad:
            one.register_post_accumulate_grad_hook(step_now)

_step_in_backward(OPTIMIZER)"""


def _step_in_backward(torch, site):
    """Steps each parameter as soon as its gradient is there, and frees the gradient."""
    small, seen = {}, set()

    def after(optimizer):
        if optimizer in made:
            return
        kind = type(optimizer)
        for group in optimizer.param_groups:
            for one in group["params"]:
                if one.requires_grad:
                    making.append(True)
                    small[one] = kind([{**group, "params": [one]}]), group
                    making.pop()
                    one.register_post_accumulate_grad_hook(now)
        _behind(site, optimizer, _IN_BACKWARD)

    made, making = set(), []

    def built(optimizer):
        if making:
            made.add(optimizer)
        else:
            after(optimizer)

    @guarded
    def now(parameter):
        if parameter in seen:
            site.refuse("the script adds up the gradients of several backward passes")
        seen.add(parameter)
        optimizer, group = small[parameter]
        optimizer.param_groups[0]["lr"] = group["lr"]
        # Without the hooks of steps, because the script's own step counts.
        inspect.unwrap(type(optimizer).step)(optimizer)
        parameter.grad = None

    def refused(name):
        function = getattr(torch.nn.utils, name)

        @functools.wraps(function)
        def call(*args, **kwargs):
            site.refuse("the script clips gradients, for which all of them must be there")
            return function(*args, **kwargs)

        setattr(torch.nn.utils, name, call)

    @guarded
    def stepped(optimizer, args, kwargs):
        seen.difference_update(one for group in optimizer.param_groups for one in group["params"])

    refused("clip_grad_norm_")
    refused("clip_grad_value_")
    sys.modules["torch.optim.optimizer"].register_optimizer_step_post_hook(stepped)
    _on_construction(torch, after=built)


_ON_HOST = """\
def _offload_state(optimizer):
    groups = [(group, one) for group in optimizer.param_groups for one in group["params"]]
    small = {one: (type(optimizer)([{**group, "params": [one]}]), group) for group, one in groups}
    moved = {}

    def step(self, closure=None):
        loss = closure() if closure is not None else None
        for one, (optimizer, group) in small.items():
            if one.grad is not None:
                state = optimizer.state[one]
                state.update({name: state[name].to(one.device) for name in moved.get(one, ())})
                optimizer.param_groups[0]["lr"] = group["lr"]
                optimizer.step()
                moved[one] = [name for name, value in state.items() if getattr(value, "is_cuda", False)]
                state.update({name: state[name].to("cpu") for name in moved[one]})
        return loss

    optimizer.step = step.__get__(optimizer)

_offload_state(OPTIMIZER)"""


def _offload_optimizer(torch, site):
    """Steps one parameter at a time with its state, which is on the host otherwise."""
    making = []

    def after(optimizer):
        if making:
            return
        if "step-in-backward" in site.options["remedies"]:
            return site.refuse("the step is in backward")
        kind = type(optimizer)
        making.append(True)
        groups = [(group, one) for group in optimizer.param_groups for one in group["params"]]
        small = {one: (kind([{**group, "params": [one]}]), group) for group, one in groups}
        making.pop()
        moved = {}

        def step(self, closure=None):
            loss = closure() if closure is not None else None
            for one, (optimizer, group) in small.items():
                if one.grad is not None:
                    state = optimizer.state[one]
                    state.update({name: state[name].to(one.device) for name in moved.get(one, ())})
                    optimizer.param_groups[0]["lr"] = group["lr"]
                    # Without the hooks of steps, and without what turns gradients off for it.
                    with torch.no_grad():
                        inspect.unwrap(kind.step)(optimizer)
                    moved[one] = [name for name, value in state.items() if getattr(value, "is_cuda", False)]
                    for name in moved[one]:
                        site.add("moved_bytes", state[name].numel() * state[name].element_size())
                    state.update({name: state[name].to("cpu") for name in moved[one]})
            # For the hooks of steps.
            groups, self.param_groups = self.param_groups, []
            kind.step(self)
            self.param_groups = groups
            return loss

        optimizer.step = step.__get__(optimizer)
        _behind(site, optimizer, _ON_HOST)

    _on_construction(torch, after=after)


def _behind(site, optimizer, text):
    """Notes lines that go behind the statement that makes an optimizer."""
    place = own_place()
    node = statement(*place) if place else None
    targets = getattr(node, "targets", [])
    text = text.replace("OPTIMIZER", ast.unparse(targets[0])) if len(targets) == 1 else None
    site.apply(_named(place, optimizer), edit(place, "after", text) if text else None)


REMEDIES = {
    "foreach-off": _foreach_off,
    "fused": _fused,
    "gradients-early": _gradients_early,
    "step-in-backward": _step_in_backward,
    "shard-optimizer": _shard,
    "offload-optimizer": _offload_optimizer,
    "adam-8bit": _replace("bitsandbytes.optim.AdamW8bit"),
    "paged-adam-8bit": _replace("bitsandbytes.optim.PagedAdamW8bit"),
    "adafactor": _replace("torch.optim.Adafactor"),
    "sgd": _replace("torch.optim.SGD"),
}
