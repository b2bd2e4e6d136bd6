"""Makes the weights of models of transformers and diffusers from their configs."""

import copy
import functools
import json
import os
import sys

from ..notices import tried
from . import files

_NAMES = {"transformers": "model", "diffusers": "diffusion_pytorch_model"}
_ENDINGS = (".safetensors", ".bin", ".safetensors.index.json", ".bin.index.json", ".gguf", ".pt", ".pth", ".ckpt")
# Arguments that say which files are meant.
_OF_FILES = ("subfolder", "variant", "use_safetensors")
# Packed weights of this kind are made from plain ones by the library that loads them.
_MADE_AT_LOAD = "bitsandbytes"


def wrap(owner, library, store):
    """Lets `from_pretrained` of a base class find weights that are missing."""
    load = owner.from_pretrained.__func__

    @functools.wraps(load)
    def from_pretrained(cls, path, *args, **kwargs):
        found = tried(None, _found, cls, library, path, kwargs, store)
        if found is not None:
            path, kwargs = found
        return load(cls, path, *args, **kwargs)

    owner.from_pretrained = classmethod(from_pretrained)


def _found(cls, library, path, kwargs, store):
    """Returns the folder to load from and the arguments, where the weights are not in the folder that was given."""
    if path is None or kwargs.get("state_dict") is not None or kwargs.get("gguf_file"):
        return None
    below = kwargs.get("subfolder") or ""
    folder = _folder(str(path), below, kwargs, store)
    if folder is None:
        return None
    given = os.path.join(folder, below) if below else folder.rstrip("/")
    if not os.path.isfile(os.path.join(given, "config.json")) or has_weights(given):
        return None
    made, config = store.made.get(given) or _fill(cls, library, given, kwargs, store)
    store.made[given] = made, config
    changed = {key: value for key, value in kwargs.items() if key not in _OF_FILES}
    packed = getattr(changed.get("config"), "quantization_config", None) or config.get("quantization_config")
    if packed is not None and library == "transformers":
        changed["config"] = _unpacked(changed.get("config"), made)
        changed.setdefault("quantization_config", _quantization(packed))
    return made, changed


def _folder(path, below, kwargs, store):
    """Returns the folder of a model, or that of the cache that has the config of a model with this name."""
    if os.path.isdir(path):
        return path
    hub = sys.modules.get("huggingface_hub")
    named = {name: kwargs[name] for name in ("revision", "cache_dir", "token") if kwargs.get(name) is not None}
    try:
        config = hub.hf_hub_download(path, "config.json", subfolder=below or None, **named)
    except Exception:
        store.note(
            f"the config of {path} is not on this machine and was not downloaded: put its config.json, and its "
            f"tokenizer's files if the script reads them, into a folder {path} where the script runs"
        )
        return None
    return os.path.dirname(os.path.dirname(config) if below else config)


def has_weights(folder):
    """Returns true if a folder has all files of its weights with their data."""
    names = os.listdir(folder)
    for index in [name for name in names if name.endswith(".index.json")]:
        with open(os.path.join(folder, index), encoding="utf-8") as file:
            parts = set(json.load(file).get("weight_map", {}).values())
        if all(files.is_here(os.path.join(folder, part)) for part in parts):
            return True
    plain = [name for name in names if name.endswith((".safetensors", ".bin", ".gguf")) and "-of-" not in name]
    return any(files.is_here(os.path.join(folder, name)) for name in plain)


def _fill(cls, library, given, kwargs, store):
    """Makes a folder with the files of one without weights, and with weights that take no space."""
    made = store.folder()
    with open(os.path.join(given, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    packed = config.pop("quantization_config", None)
    if packed is not None and packed.get("quant_method") != _MADE_AT_LOAD:
        store.note(
            f"the weights in {given} are packed by {packed.get('quant_method')}, and no file here tells their shapes: "
            "give the header of their safetensors files, which is at their beginning"
        )
    for name in os.listdir(given):
        if not name.endswith(_ENDINGS) and name != "config.json":
            os.symlink(os.path.abspath(os.path.join(given, name)), os.path.join(made, name))
    with open(os.path.join(made, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    cut = [name for name in os.listdir(given) if files.is_cut(os.path.join(given, name))]
    if len(cut) == 1:
        os.symlink(store.like(os.path.join(given, cut[0])), os.path.join(made, f"{_NAMES[library]}.safetensors"))
    else:
        tensors = of_config(cls, library, made, kwargs.get("trust_remote_code"))
        size = files.write_all(made, _NAMES[library], tensors)
        count = sum(tensor.numel() for tensor in tensors.values())
        store.note(
            f"the weights of {given} are not here: {count / 1e9:,.2f} billion numbers, {size / 2**30:,.2f} GiB, "
            "have the shapes that its config.json tells"
        )
    return made, {**config, "quantization_config": packed} if packed else config


def of_config(cls, library, folder, is_remote=False):
    """Returns the tensors of a checkpoint, on no device, by the name that the files give them."""
    torch = sys.modules["torch"]
    if library == "diffusers":
        config = cls.load_config(folder)
        with torch.device("meta"):
            model = cls.from_config(config)
        return state_of(model, None)
    transformers = sys.modules["transformers"]
    config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=bool(is_remote))
    named = (getattr(config, "architectures", None) or [None])[0]
    kind = getattr(transformers, named or "", None) or cls
    dtype = getattr(config, "dtype", None) or getattr(config, "torch_dtype", None) or torch.float32
    if isinstance(dtype, str):
        dtype = getattr(torch, dtype)
    with torch.device("meta"):
        model = kind(config)
    tensors = state_of(model, dtype)
    try:
        from transformers.core_model_loading import revert_weight_conversion
    except ImportError:
        return tensors
    # Files keep the names of the first version of a model, such as one tensor for each expert.
    return revert_weight_conversion(model, tensors)


def state_of(model, dtype):
    """Returns the state of a model in a kind, each tensor by its first name."""
    seen, tensors = set(), {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            tensor = tensor.detach()
            tensors[name] = tensor.to(dtype) if dtype is not None and tensor.is_floating_point() else tensor
    return tensors


def _unpacked(config, folder):
    """Returns a config that says nothing of packed weights."""
    if config is None or isinstance(config, (str, os.PathLike)):
        return sys.modules["transformers"].AutoConfig.from_pretrained(folder)
    config = copy.deepcopy(config)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    return config


def _quantization(packed):
    """Returns the settings by which plain weights are packed as the config says."""
    if not isinstance(packed, dict):
        return packed
    return sys.modules["transformers"].BitsAndBytesConfig.from_dict(packed)
