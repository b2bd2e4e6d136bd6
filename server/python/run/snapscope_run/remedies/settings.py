"""Remedies by settings of frameworks: arguments of their constructors, where the user's script calls one."""

import functools

from ..importing import when_imported
from ..notices import tried
from .places import own_place, rewritten, with_keywords

_OPTIMIZERS = {
    "adam-8bit": "adamw_8bit",
    "paged-adam-8bit": "paged_adamw_8bit",
    "adafactor": "adafactor",
    "sgd": "sgd",
    "fused": "adamw_torch_fused",
}


def _training_arguments(torch, name, site, given):
    """Returns what the remedy sets in transformers' TrainingArguments, or a class below it."""
    half = "fp16" if site.is_half_only else "bf16"
    if name == "checkpoint":
        return {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": False}}
    if name == "autocast":
        return None if given["bf16"] or given["fp16"] else {half: True}
    if name == "liger":
        return {"use_liger_kernel": True}
    if name == "length-half":
        sizes = {key: given.get(key) for key in ("max_length", "max_prompt_length", "max_completion_length")}
        return {key: size // 2 for key, size in sizes.items() if type(size) is int}
    if name.startswith("batch-"):
        return {"per_device_train_batch_size": int(name.split("-")[1])}
    if name.startswith("microbatch-"):
        parts, batch = int(name.split("-")[1]), given["per_device_train_batch_size"]
        if batch % parts:
            return None
        steps = given["gradient_accumulation_steps"] * parts
        return {"per_device_train_batch_size": batch // parts, "gradient_accumulation_steps": steps}
    return {"optim": _OPTIMIZERS[name]} if name in _OPTIMIZERS else {}


def _accelerator(torch, name, site, given):
    if name != "autocast":
        return {}
    return None if given.get("mixed_precision") else {"mixed_precision": "fp16" if site.is_half_only else "bf16"}


def _lightning(torch, name, site, given):
    if name == "autocast":
        is_plain = given.get("precision") in (None, 32, "32", "32-true")
        return {"precision": "16-mixed" if site.is_half_only else "bf16-mixed"} if is_plain else None
    if name.startswith("microbatch-"):
        return {"accumulate_grad_batches": given.get("accumulate_grad_batches", 1) * int(name.split("-")[1])}
    return {}


def install(torch, sites):
    """Applies remedies to what the script makes of the classes of frameworks."""

    def each(choose, given, change, kind, place):
        for name, site in sites.items():
            # A trainer that adds up gradients belongs to a batch that is smaller elsewhere.
            if site.is_settled and not (choose is _lightning and name.startswith("microbatch-")):
                continue
            wanted = choose(torch, name, site, given)
            if wanted is None:
                site.refuse(f"{kind} of the script has another choice for this")
            elif wanted and all(given.get(key) == value for key, value in wanted.items()):
                site.refuse(f"{kind} of the script sets it already")
            elif wanted:
                change(wanted)
                site.facts["settings"] = True
                if "per_device_train_batch_size" in wanted:
                    site.facts["batch"] = given["per_device_train_batch_size"]
                listed = ", ".join(f"{key}={value!r}" for key, value in wanted.items())
                site.apply(f"{kind}: {listed}", rewritten(place, kind, with_keywords(**wanted)))

    def of_arguments(module):
        kind = module.TrainingArguments
        check = kind.__post_init__

        @functools.wraps(check)
        def __post_init__(self):
            tried(None, each, _training_arguments, vars(self), vars(self).update, type(self).__name__, own_place())
            check(self)

        kind.__post_init__ = __post_init__

    def of_keywords(choose, kind):
        begin = kind.__init__

        @functools.wraps(begin)
        def __init__(self, *args, **kwargs):
            tried(None, each, choose, dict(kwargs), kwargs.update, kind.__name__, own_place())
            begin(self, *args, **kwargs)

        kind.__init__ = __init__

    def nothing(error):
        """The script meets the error of its import itself."""

    when_imported("transformers.training_args", of_arguments, nothing)
    when_imported("accelerate.accelerator", lambda module: of_keywords(_accelerator, module.Accelerator), nothing)
    for package in ("lightning.pytorch", "pytorch_lightning"):
        name = f"{package}.trainer.trainer"
        when_imported(name, lambda module: of_keywords(_lightning, module.Trainer), nothing)
