"""The U-Net of latent diffusion as diffusers builds it, fed and judged as in its `train_text_to_image.py`."""

from typing import Any

import torch
from diffusers import UNet2DConditionModel
from torch import Tensor, nn
from torch.nn.functional import mse_loss
from torch.utils.checkpoint import checkpoint

import modules
from job import Unet

LATENT_CHANNELS = 4
# Height and width of the pixels that a latent stands for.
PIXELS = 8


class Batches:
    """Random batches, whose tensors take the place of the last batch's on the device one by one."""

    def __init__(self, shape: Unet, dtype: torch.dtype) -> None:
        self.shape = shape
        self.dtype = dtype
        self.inputs: list[Tensor] = []

    def __call__(self, samples: int) -> tuple["Batches", Tensor]:
        """The inputs, which wait in host memory, and the noise in them."""
        size = self.shape.image_size // PIXELS
        latents = torch.empty(samples, LATENT_CHANNELS, size, size, dtype=self.dtype)
        timesteps = torch.zeros(samples, dtype=torch.long)
        text = torch.empty(samples, self.shape.text_tokens, self.shape.cross_attention_dim, dtype=self.dtype)
        self.waiting = [latents, timesteps, text]
        return self, torch.empty_like(latents)

    def pin_memory(self) -> "Batches":
        """Pins the inputs that wait."""
        self.waiting = [tensor.pin_memory() for tensor in self.waiting]
        return self

    def to(self, device: torch.device, non_blocking: bool = False) -> "Batches":
        """Brings latents, time steps and text states to the device, as variables of a script are replaced."""
        for index, tensor in enumerate(self.waiting):
            self.inputs[index : index + 1] = [tensor.to(device, non_blocking=non_blocking)]
        return self


def model_of(shape: Unet, dtype: torch.dtype, checkpointing: bool) -> nn.Module:
    """The model without memory, on the meta device."""
    coarser = len(shape.channels) - 1
    with torch.device("meta"):
        model = UNet2DConditionModel(
            sample_size=shape.image_size // PIXELS,
            block_out_channels=tuple(shape.channels),
            down_block_types=("CrossAttnDownBlock2D",) * coarser + ("DownBlock2D",),
            up_block_types=("UpBlock2D",) + ("CrossAttnUpBlock2D",) * coarser,
            layers_per_block=shape.layers,
            attention_head_dim=shape.heads,
            cross_attention_dim=shape.cross_attention_dim,
        ).to(dtype)
    model.train()
    if checkpointing:
        model.enable_gradient_checkpointing(checkpointed)
    return model


def checkpointed(module: nn.Module, *inputs: Any) -> Any:
    """What diffusers does by default; the contexts only mend labels."""
    return checkpoint(module.__call__, *inputs, use_reentrant=False, context_fn=modules.checkpoint_contexts)


def run(model: nn.Module, batch: Batches, noise: Tensor) -> tuple[Any, Tensor]:
    """The noise that the model finds in the latents, and how far it is off."""
    prediction = model(*batch.inputs, return_dict=False)[0]
    return prediction, mse_loss(prediction.float(), noise.float(), reduction="mean")
