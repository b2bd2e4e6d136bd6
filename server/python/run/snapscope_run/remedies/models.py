"""Remedies on the model: they are applied before the script makes the optimizer of the model, or at its first forward.

The model is the outermost module of the user's that has the parameters of an optimizer.
"""

import functools
import re
import sys

from ..notices import guarded, tried
from . import blocks
from .optimizers import on_step, receiver_rewritten
from .places import edit, outside_loops, own_place, variable

# What a remedy does with a model, by its name: a function of torch, the site, the model and where it was found.
_ON_MODEL = {}


def _on_model(name):
    def add(function):
        _ON_MODEL[name] = function
        return function

    return add


class Found:
    """A model, the expression by which the user has it, and the place before which lines about it go."""

    def __init__(self, model, name, place):
        self.model = model
        self.name = name
        self.place = outside_loops(place, re.match(r"\w+", name)[0])

    def inner(self):
        """Returns the module behind wrappers for several GPUs or of a compiler, and its name."""
        model, name = self.model, self.name
        while True:
            for attribute in ("module", "_orig_mod"):
                if attribute in model._modules and len(model._modules) == 1:
                    model, name = model._modules[attribute], f"{name}.{attribute}"
                    break
            else:
                return model, name

    def before(self, text):
        return edit(self.place, "before", text)


def watch(torch, sites):
    """Applies remedies to each model that an optimizer is made for, or whose forward pass trains."""
    wanted = [(site, _ON_MODEL[site.name]) for site in sites if site.name in _ON_MODEL]
    if wanted:
        _Watch(torch, wanted).install()


class _Watch:
    def __init__(self, torch, wanted):
        self.torch = torch
        self.wanted = wanted
        self.seen = set()
        self.is_training = wanted[0][0].options.get("is_training", True)

    def install(self):
        optimizer = self.torch.optim.Optimizer
        begin = optimizer.__init__
        watch = self

        @functools.wraps(begin)
        def __init__(self, params, *args, **kwargs):
            params = tried(params, watch.optimizer, params)
            begin(self, params, *args, **kwargs)

        optimizer.__init__ = __init__
        self.call = self.torch.nn.Module.__call__

        # The pass itself must see what the remedies change, so a hook, which runs within the call, would be too late.
        def __call__(self, *args, **kwargs):
            watch.forward(self)
            return watch.call(self, *args, **kwargs)

        self.torch.nn.Module.__call__ = __call__

    def optimizer(self, params):
        """Finds the models of an optimizer's parameters, which are returned as a list."""
        params = list(params)
        if isinstance(params[0], dict):
            for group in params:
                group["params"] = [group["params"]] if self._is_parameter(group["params"]) else list(group["params"])
            each = [parameter for group in params for parameter in group["params"]]
        else:
            each = params
        tried(None, self._find, [one[1] if isinstance(one, tuple) else one for one in each])
        return params

    def _is_parameter(self, value):
        return isinstance(value, self.torch.Tensor)

    def _find(self, parameters):
        known = set()
        for parameter in parameters:
            if id(parameter) in known:
                continue

            def has_it(value):
                return isinstance(value, self.torch.nn.Module) and any(one is parameter for one in value.parameters())

            found = variable(has_it)
            if found is None:
                return
            known |= set(map(id, found[0].parameters()))
            self._apply(Found(*found))

    @guarded
    def forward(self, module):
        """Runs before the forward pass of each module, until a model is known."""
        if self.is_training and not self.torch.is_grad_enabled():
            return
        if any(one.requires_grad or not self.is_training for one in module.parameters()):
            found = variable(lambda value: value is module)
            if found is not None:
                return self._apply(Found(*found))
            self.torch.nn.Module.__call__ = self.call
            for site, _ in self.wanted:
                if not site.facts["settings"]:
                    site.refuse("no variable of the script is its model, so that no line could change it")

    def _apply(self, found):
        self.torch.nn.Module.__call__ = self.call
        inside = set(map(id, found.model.modules()))
        if not inside.isdisjoint(self.seen):
            return
        self.seen |= inside
        for site, apply in self.wanted:
            if not site.facts["settings"]:
                tried(None, apply, self.torch, site, found)
                # Of several models, it is enough that one takes it.
                if site.is_settled:
                    site.facts["refused"] = None


@_on_model("checkpoint")
def _checkpoint(torch, site, found):
    blocks.checkpoint(torch, site, found, every=1)


@_on_model("checkpoint-half")
def _checkpoint_half(torch, site, found):
    blocks.checkpoint(torch, site, found, every=2)


def _wrap_forward(found, wrapper, site, *texts):
    """Replaces the forward pass of a model, or a Lightning module's training step, by a wrapped one.

    The wrapper gets the pass, and a function that notes what was changed.
    """
    model = found.model
    name = "training_step" if hasattr(type(model), "training_step") else "forward"
    lines = [found.before(text.replace("MODEL", f"{found.name}.{name}")) for text in texts]
    setattr(model, name, wrapper(getattr(model, name), lambda: site.apply(f"{found.name}.{name}", *lines)))


@_on_model("no-grad")
def _no_grad(torch, site, found):
    def wrapper(forward, tell):
        @functools.wraps(forward)
        def checked(*args, **kwargs):
            if torch.is_grad_enabled():
                tried(None, tell)
            with torch.no_grad():
                return forward(*args, **kwargs)

        return checked

    _wrap_forward(found, wrapper, site, "MODEL = torch.no_grad()(MODEL)")


@_on_model("offload-activations")
def _offload(torch, site, found):
    def wrapper(forward, tell):
        tell()

        @functools.wraps(forward)
        def offloaded(*args, **kwargs):
            hooks = torch.autograd.graph.save_on_cpu(pin_memory=True)
            tried(None, _count, site, hooks)
            with hooks:
                return forward(*args, **kwargs)

        return offloaded

    helper = (
        "import functools\n\n"
        "def _offloaded(forward):\n"
        "    @functools.wraps(forward)\n"
        "    def offloaded(*args, **kwargs):\n"
        "        with torch.autograd.graph.save_on_cpu(pin_memory=True):\n"
        "            return forward(*args, **kwargs)\n\n"
        "    return offloaded\n"
    )
    _wrap_forward(found, wrapper, site, helper, "MODEL = _offloaded(MODEL)")


def _count(site, hooks):
    """Counts the bytes that hooks of saved tensors move to the host."""
    pack = hooks.pack_hook

    def counted(tensor):
        if tensor.is_cuda:
            site.add("moved_bytes", tensor.numel() * tensor.element_size())
        return pack(tensor)

    hooks.pack_hook = counted


@_on_model("autocast")
def _autocast(torch, site, found):
    is_half = site.is_half_only
    dtype = torch.float16 if is_half else torch.bfloat16

    def wrapper(forward, tell):
        cast = torch.autocast("cuda", dtype=dtype)(forward)

        @functools.wraps(forward)
        def checked(*args, **kwargs):
            # An Accelerator, which may be made after the optimizer, casts by a setting of its own.
            if site.facts["settings"]:
                return forward(*args, **kwargs)
            if torch.is_autocast_enabled("cuda"):
                site.refuse("the script casts automatically already")
            tried(None, tell)
            return cast(*args, **kwargs)

        return checked

    texts = [f'MODEL = torch.autocast("cuda", dtype={dtype})(MODEL)']
    if is_half and site.once("scaler"):
        texts.append('scaler = torch.amp.GradScaler("cuda")')
    _wrap_forward(found, wrapper, site, *texts)


def _scale(torch, site):
    """Scales losses, and gradients back before each step, once a model casts to 16-bit floats that need it."""
    if not site.is_half_only:
        return
    scaler = torch.amp.GradScaler("cuda")
    backward = torch.Tensor.backward

    def is_off():
        return not site.is_settled or site.facts["settings"]

    @functools.wraps(backward)
    def scaled(self, *args, **kwargs):
        if is_off():
            return backward(self, *args, **kwargs)
        tried(None, _tell, site, "backward", "scaler.scale({}).backward")
        return backward(scaler.scale(self), *args, **kwargs)

    torch.Tensor.backward = scaled

    def step(optimizer, *args, **kwargs):
        if is_off():
            return optimizer.step(*args, **kwargs)
        tried(None, _tell, site, "step", "scaler.step", "scaler.update()")
        scaler.step(optimizer, *args, **kwargs)
        scaler.update()

    on_step(torch, step)


def _tell(site, name, template, then=None):
    place = own_place()
    if site.once(name, place):
        edit = receiver_rewritten(place, name, template, then)
        site.apply("the loss is scaled", edit)


@_on_model("bf16-weights")
def _bf16(torch, site, found):
    if site.is_half_only:
        return site.refuse("this card has no bfloat16")
    model = found.model
    if all(one.dtype == torch.bfloat16 for one in model.parameters()):
        return site.refuse("the weights are in bfloat16 already")
    model.to(torch.bfloat16)

    def cast(module, args, kwargs):
        def narrow(value):
            is_wide = isinstance(value, torch.Tensor) and value.is_floating_point()
            return value.bfloat16() if is_wide else value

        return tuple(map(narrow, args)), {name: narrow(value) for name, value in kwargs.items()}

    model.register_forward_pre_hook(cast, with_kwargs=True)
    helper = (
        "def _narrow(value):\n"
        "    is_wide = isinstance(value, torch.Tensor) and value.is_floating_point()\n"
        "    return value.bfloat16() if is_wide else value\n\n"
        "def _cast(module, args, kwargs):\n"
        "    return tuple(map(_narrow, args)), {name: _narrow(value) for name, value in kwargs.items()}\n"
    )
    text = (
        f"{found.name}.to(torch.bfloat16)\n"
        f"{found.name}.register_forward_pre_hook(_cast, with_kwargs=True)"
    )
    site.apply(f"{found.name}, weights and floating-point inputs", found.before(helper), found.before(text))


_SDPA = "transformers.integrations.sdpa_attention"


def _is_grouped(torch, model):
    """Returns True if heads share keys in float32, for which PyTorch's only kernel computes the table of weights."""
    is_wide = any(one.dtype == torch.float32 for one in model.parameters())
    has_groups = any(getattr(layer, "num_key_value_groups", 1) > 1 for layer in model.modules())
    return is_wide and has_groups and hasattr(sys.modules.get(_SDPA), "use_gqa_in_sdpa")


@_on_model("efficient-attention")
def _attention(torch, site, found):
    model, name = found.inner()
    switch = getattr(model, "set_attn_implementation", None)
    if switch is not None and getattr(model.config, "_attn_implementation", None) == "eager":
        switch("sdpa")
        site.apply(f"{name}, attention of transformers", found.before(f'{name}.set_attn_implementation("sdpa")'))
    elif _is_grouped(torch, model):
        sys.modules[_SDPA].use_gqa_in_sdpa = lambda *args, **kwargs: False
        text = (
            "from transformers.integrations import sdpa_attention\n\n"
            "sdpa_attention.use_gqa_in_sdpa = lambda *args, **kwargs: False"
        )
        site.apply(f"{name}, attention of transformers with fewer keys than queries", found.before(text))
    kind = torch.nn.MultiheadAttention
    layers = [one for one in model.modules() if isinstance(one, kind)]
    for one in layers:
        one.forward = functools.partial(one.forward, need_weights=False)
    if layers:
        text = (
            "import functools\n\n"
            f"for _layer in {name}.modules():\n"
            "    if isinstance(_layer, torch.nn.MultiheadAttention):\n"
            "        _layer.forward = functools.partial(_layer.forward, need_weights=False)"
        )
        site.apply(f"{len(layers)} nn.MultiheadAttention of {name}", found.before(text))
    if not site.is_settled:
        site.refuse("no attention of the model computes its weights in memory in a way that is known")


@_on_model("liger")
def _liger(torch, site, found):
    model, name = found.inner()
    if not hasattr(model, "config"):
        return site.refuse("the model is not one of transformers")
    try:
        from liger_kernel.transformers import _apply_liger_kernel_to_instance as patch
    except ImportError:
        return site.refuse("liger-kernel is not installed (pip install liger-kernel)")
    patch(model=model)
    text = (
        "from liger_kernel.transformers import _apply_liger_kernel_to_instance\n\n"
        f"_apply_liger_kernel_to_instance(model={name})"
    )
    site.apply(name, found.before(text))


REMEDIES = {"autocast": _scale, "compile-budget": blocks.budget}
