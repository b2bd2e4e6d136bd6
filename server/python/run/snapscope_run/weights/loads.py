"""Answers for files that a script opens by itself."""

import functools
import json
import os

from ..notices import tried
from . import files, models

_UNKNOWN = "the file {} is not here: what loads it keeps its shapes, and nothing else of the file is known"
_ENGINE = "the weights of {} are not here: they have the shapes that vLLM makes of its config.json"
_ADAPTER = "the weights of the adapter {} are not here: its layers have the shapes that its config tells"


class Absent(dict):
    """A state whose file is missing; a model that loads it keeps the shapes that it has."""

    def __init__(self, path, device="cpu"):
        super().__init__()
        self.path, self.device = path, device

    def __missing__(self, key):
        return Absent(self.path)

    def get(self, key, default=None):
        return Absent(self.path) if default is None else default

    def __contains__(self, key):
        return True

    def __getattr__(self, name):
        raise AttributeError(
            f"{self.path} is not here, and nothing tells its shapes: give it as safetensors, of which the header is "
            "enough, or let load_state_dict read it"
        )


def install(torch, store):
    """Answers `torch.load` of a missing file, and what loads it."""
    _wrap_torch_load(torch, store)
    _wrap_module(torch)


def _wrap_torch_load(torch, store):
    load = torch.load

    @functools.wraps(load)
    def call(f, *args, **kwargs):
        if tried(False, _is_missing, f):
            store.note(_UNKNOWN.format(os.fspath(f)))
            return Absent(os.fspath(f))
        return load(f, *args, **kwargs)

    torch.load = call


def _wrap_module(torch):
    load = torch.nn.Module.load_state_dict

    @functools.wraps(load)
    def load_state_dict(self, state_dict, *args, **kwargs):
        if isinstance(state_dict, Absent):
            state_dict = tried(state_dict, _own, torch, self)
        return load(self, state_dict, *args, **kwargs)

    torch.nn.Module.load_state_dict = load_state_dict
    step = torch.optim.Optimizer.load_state_dict

    @functools.wraps(step)
    def load_optimizer(self, state_dict, *args, **kwargs):
        return None if isinstance(state_dict, Absent) else step(self, state_dict, *args, **kwargs)

    torch.optim.Optimizer.load_state_dict = load_optimizer


def _own(torch, module):
    """Returns a state on the host in the shapes of a module; a tensor that is on the host stands for itself."""
    return {
        name: tensor if tensor.device.type == "cpu" else torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu")
        for name, tensor in module.state_dict().items()
    }


def _is_missing(path):
    return isinstance(path, (str, os.PathLike)) and not files.is_here(path)


def wrap_safe_open(module, store):
    """Lets `safe_open` open a file that is missing or has only its header."""
    original = module.safe_open

    @functools.wraps(original, updated=())
    def safe_open(filename, *args, **kwargs):
        return original(tried(None, _stand_in, filename, store) or filename, *args, **kwargs)

    module.safe_open = safe_open


def wrap_load_file(module, store):
    """Lets `load_file` read a file that is missing or has only its header."""
    original = module.load_file

    @functools.wraps(original)
    def load_file(filename, *args, **kwargs):
        found = tried(None, _stand_in, filename, store)
        if found is None and tried(False, _is_missing, filename):
            store.note(_UNKNOWN.format(os.fspath(filename)))
            return Absent(os.fspath(filename))
        return original(found or filename, *args, **kwargs)

    module.load_file = load_file


def wrap_adapters(module, store):
    """Lets PEFT load an adapter whose weights are missing: its config has made the layers, which keep their shapes."""
    load, fill = module.load_peft_weights, module.set_peft_model_state_dict

    @functools.wraps(load)
    def load_peft_weights(model_id, device=None, *args, **kwargs):
        folder = os.path.join(model_id, kwargs.get("subfolder") or "").rstrip("/")
        if os.path.isdir(folder) and not tried(True, models.has_weights, folder):
            store.note(_ADAPTER.format(folder))
            return Absent(folder, device or module.infer_device())
        return load(model_id, device, *args, **kwargs)

    @functools.wraps(fill)
    def set_peft_model_state_dict(model, peft_model_state_dict, adapter_name="default", *args, **kwargs):
        if isinstance(peft_model_state_dict, Absent):
            device = peft_model_state_dict.device
            own = module.get_peft_model_state_dict(model, adapter_name=adapter_name, save_embedding_layers=False)
            peft_model_state_dict = {name: module.torch.empty_like(own[name], device=device) for name in own}
        return fill(model, peft_model_state_dict, adapter_name, *args, **kwargs)

    module.load_peft_weights, module.set_peft_model_state_dict = load_peft_weights, set_peft_model_state_dict


def wrap_checkpoints(module, store):
    """Lets accelerate load a checkpoint that is missing into a model, whose shapes it has."""
    load = module.load_checkpoint_in_model

    @functools.wraps(load)
    def load_checkpoint_in_model(model, checkpoint, *args, **kwargs):
        return load(model, tried(checkpoint, _like_model, model, os.fspath(checkpoint), store), *args, **kwargs)

    module.load_checkpoint_in_model = load_checkpoint_in_model


def wrap_engine(module, store):
    """Lets vLLM leave the weights of a folder without their files as it makes them, packed ones too."""
    load = module.DefaultModelLoader.load_weights

    @functools.wraps(load)
    def load_weights(self, model, model_config):
        folder = model_config.model
        if os.path.isdir(folder) and not tried(True, models.has_weights, folder):
            store.note(_ENGINE.format(folder))
            return module.DummyModelLoader(type(self.load_config)()).load_weights(model, model_config)
        return load(self, model, model_config)

    module.DefaultModelLoader.load_weights = load_weights


def _like_model(model, path, store):
    """Returns a checkpoint in the shapes of a model where the one that was named is missing."""
    folder = os.path.dirname(path) if path.endswith(".json") else path
    is_here = models.has_weights(folder) if os.path.isdir(folder) else files.is_here(path) or files.is_cut(path)
    if is_here:
        return path
    made = store.folder()
    files.write_all(made, "model", models.state_of(model, None))
    store.note(f"the weights of {path} are not here: they have the shapes of the model that loads them")
    return made


def _stand_in(path, store):
    """Returns a file that has the shapes of one whose data is missing; `None` where nothing tells them."""
    if not _is_missing(path):
        return None
    path = os.fspath(path)
    if files.is_cut(path):
        return store.like(path)
    folder = os.path.dirname(path) or "."
    if not os.path.isfile(os.path.join(folder, "config.json")):
        return None
    if path not in store.made:
        try:
            import transformers
        except ImportError:
            return None
        tensors = models.of_config(transformers.PreTrainedModel, "transformers", folder)
        part = _part(folder, os.path.basename(path))
        target = os.path.join(store.folder(), os.path.basename(path))
        files.write(target, {name: tensors[name] for name in part or tensors})
        store.note(f"the file {path} is not here: its tensors have the shapes that the config.json beside it tells")
        store.made[path] = target
    return store.made[path]


def _part(folder, name):
    """Returns the tensors that an index has in a file."""
    index = os.path.join(folder, "model.safetensors.index.json")
    if not os.path.isfile(index):
        return []
    with open(index, encoding="utf-8") as file:
        return [tensor for tensor, part in json.load(file)["weight_map"].items() if part == name]
