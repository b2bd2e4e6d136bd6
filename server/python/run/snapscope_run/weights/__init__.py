"""Answers for weights that are not on this machine (`--weights empty`), without memory or disk for them.

A missing file of weights is answered by one whose header tells names, shapes and kinds, and whose data is a hole of the
file system: what reads it gets tensors that the kernel maps, and pages that nothing touches take no memory. Where no
file tells the shapes, the model that the weights are for does.

Host tensors of numbers from 1 MiB on keep whatever is in their memory: what would fill them does nothing.
"""

from ..importing import at_import
from . import host, loads, models
from .files import Store


def install(torch, run, notes):
    """Starts to answer; sentences about what was answered are added to `notes`."""
    store = Store(run, notes)
    host.install(torch)
    loads.install(torch, store)
    at_import("safetensors", lambda module: loads.wrap_safe_open(module, store))
    at_import("safetensors.torch", lambda module: loads.wrap_load_file(module, store))
    at_import("peft.utils.save_and_load", lambda module: loads.wrap_adapters(module, store))
    at_import("accelerate.utils.modeling", lambda module: loads.wrap_checkpoints(module, store))
    at_import("vllm.model_executor.model_loader", lambda module: loads.wrap_engine(module, store))
    at_import("transformers.modeling_utils", lambda module: models.wrap(module.PreTrainedModel, "transformers", store))
    at_import("diffusers.models.modeling_utils", lambda module: models.wrap(module.ModelMixin, "diffusers", store))
