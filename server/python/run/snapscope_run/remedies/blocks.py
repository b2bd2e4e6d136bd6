"""Finds the blocks that a model repeats, and lets them compute their forward pass again in backward."""

import collections
import functools
import importlib
import math

from ..notices import tried
from .places import edit, imports_end, own_place

# Layers of a plain Sequential from which it is worth being cut into segments.
_LEAST_LAYERS = 4


def checkpoint(torch, site, found, every):
    """Checkpoints each block, or each second one, by the framework's own switch where there is one."""
    model, name = found.inner()
    # A hook of modules would be compiled along, and breaks what is compiled into parts.
    if not any(_is_compiled(one) for one in found.model.modules()):
        _count_flops(torch, site)
    if every == 1 and _by_switch(site, found, model, name):
        return
    repeated = _repeated(torch, model, name)
    run = torch.utils.checkpoint.checkpoint
    for listed, group in repeated.items():
        chosen = group[::every]
        for block in chosen:
            block.forward = functools.partial(run, block.forward, use_reentrant=False)
        shown = f"{listed}[::{every}]" if every > 1 else listed
        site.apply(f"{len(chosen)} of {len(group)} {type(group[0]).__name__} in {listed}", found.before(_text(shown)))
    if every == 1 and not repeated:
        for path, layers in _plain_sequences(torch, model, name).items():
            parts = max(2, round(math.sqrt(len(layers))))
            layers.forward = functools.partial(_in_parts, torch, list(layers), parts)
            text = (
                "from torch.utils.checkpoint import checkpoint_sequential\n\n"
                f"{path}.forward = lambda x, layers=list({path}): "
                f"checkpoint_sequential(layers, {parts}, x, use_reentrant=False)"
            )
            site.apply(f"{len(layers)} layers of {path} in {parts} parts", found.before(text))
    if any(isinstance(one, torch.nn.modules.batchnorm._BatchNorm) for one in model.modules()):
        site.facts["changes"] = "batch normalization updates its running statistics twice in each step"
    if not site.is_settled:
        site.refuse("the model has no blocks that repeat, and no long nn.Sequential")


def _is_compiled(module):
    # Before 2.1, PyTorch compiles no module in place.
    return type(module).__name__ == "OptimizedModule" or getattr(module, "_compiled_call_impl", None) is not None


def budget(torch, site):
    """Lets what the script compiles keep half of the activations that it would keep."""
    settings = "torch._functorch.config"
    text = f"import {settings}\n\n{settings}.activation_memory_budget = 0.5"

    def halve():
        config = importlib.import_module(settings)
        if config.activation_memory_budget == 1 or site.is_settled:
            config.activation_memory_budget = 0.5
            place = own_place()
            top = imports_end(place[0]) if place else None
            site.apply("what is compiled", edit((place[0], top), "before", text) if top else None)
        else:
            site.refuse("the script sets the compiler's budget already")

    def wrap(owner):
        compiled = owner.compile
        owner.compile = functools.wraps(compiled)(lambda *args, **kwargs: (tried(None, halve), compiled(*args, **kwargs))[1])

    wrap(torch)
    wrap(torch.nn.Module)


def _text(blocks):
    return (
        "import functools\nfrom torch.utils.checkpoint import checkpoint\n\n"
        f"for _block in {blocks}:\n"
        "    _block.forward = functools.partial(checkpoint, _block.forward, use_reentrant=False)"
    )


def _by_switch(site, found, model, name):
    """Uses the switch of transformers, diffusers or timm."""
    if getattr(model, "is_gradient_checkpointing", False):
        site.refuse("the script checkpoints already")
        return True
    if hasattr(model, "gradient_checkpointing_enable") and getattr(model, "supports_gradient_checkpointing", True):
        options = {"use_reentrant": False}
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=options)
        text = f"{name}.gradient_checkpointing_enable(gradient_checkpointing_kwargs={options})"
    elif hasattr(model, "enable_gradient_checkpointing"):
        model.enable_gradient_checkpointing()
        text = f"{name}.enable_gradient_checkpointing()"
    elif hasattr(model, "set_grad_checkpointing"):
        model.set_grad_checkpointing()
        text = f"{name}.set_grad_checkpointing()"
    else:
        return False
    site.apply(f"{name}, {type(model).__name__}", found.before(text))
    return True


def _path(name, path):
    """Returns the expression of a module below a variable, such as `model.layers[0].up`."""
    parts = path.split(".") if path else []
    return name + "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in parts)


def _repeated(torch, model, name):
    """Returns the outermost modules whose class repeats, by the expression of the list that they are in."""
    nn = torch.nn
    containers = (nn.ModuleList, nn.ModuleDict, nn.Sequential)
    found, single = {}, {}

    def kind(one):
        """Returns a module's class, and the layers of a sequence that has nothing else; None for other containers."""
        if not isinstance(one, containers):
            return type(one)
        layers = list(one.children())
        is_plain = isinstance(one, nn.Sequential) and len(layers) > 1 and all(not layer._modules for layer in layers)
        return (type(one), *map(type, layers)) if is_plain else None

    counts = collections.Counter(map(kind, model.modules()))

    def is_block(one):
        has_layers = next(one.children(), None) is not None and next(one.parameters(), None) is not None
        return has_layers and kind(one) is not None and counts[kind(one)] > 1

    def visit(module, path):
        inner = {f"{path}.{key}" if path else key: child for key, child in module.named_children()}
        blocks = {key: child for key, child in inner.items() if is_block(child)}
        if blocks and isinstance(module, (nn.ModuleList, nn.Sequential)) and len(blocks) == len(inner):
            found[_path(name, path)] = list(blocks.values())
        else:
            for key, child in blocks.items():
                single.setdefault(kind(child), {})[_path(name, key)] = child
        for key, child in inner.items():
            if key not in blocks:
                visit(child, key)

    visit(model, "")
    for group in single.values():
        found[f"[{', '.join(group)}]"] = list(group.values())
    return found


def _plain_sequences(torch, model, name):
    """Returns the sequences of single layers, by their expressions."""
    kind = torch.nn.Sequential
    return {
        _path(name, path): one
        for path, one in model.named_modules()
        if isinstance(one, kind)
        and len(one) >= _LEAST_LAYERS
        and any(True for _ in one.parameters())
        and not any(isinstance(layer, kind) for layer in one)
    }


def _in_parts(torch, layers, parts, x):
    return torch.utils.checkpoint.checkpoint_sequential(layers, parts, x, use_reentrant=False)


def _count_flops(torch, site):
    """Counts the operations of matrix products and convolutions, of all passes and of those repeated in backward."""
    nn = torch.nn

    def add(module, output):
        if isinstance(module, nn.Linear):
            each = module.in_features
        elif isinstance(module, nn.modules.conv._ConvNd):
            each = module.weight[0].numel()
        else:
            return
        is_again = torch._C._current_graph_task_id() != -1
        site.add("more_flops" if is_again else "flops", 2 * each * output.numel())

    nn.modules.module.register_module_forward_hook(lambda module, args, output: tried(None, add, module, output))
