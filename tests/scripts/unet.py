"""Trains a U-Net of diffusers on the latents of an autoencoder, as its example for text to image does."""

import torch
import torch.nn.functional as F
from diffusers import AutoencoderKL, DDPMScheduler, UNet2DConditionModel

unet = UNet2DConditionModel(
    sample_size=64, block_out_channels=(160, 320, 640, 640), cross_attention_dim=512, attention_head_dim=8
).cuda()
unet.enable_gradient_checkpointing()
down, up = ("DownEncoderBlock2D",) * 4, ("UpDecoderBlock2D",) * 4
coder = AutoencoderKL(block_out_channels=(64, 128, 256, 256), down_block_types=down, up_block_types=up)
coder.cuda().half().eval()
noises, optimizer = DDPMScheduler(), torch.optim.AdamW(unet.parameters(), 1e-5)
for step in range(3):
    with torch.no_grad():
        latents = coder.encode(torch.randn(2, 3, 512, 512).cuda().half()).latent_dist.sample().float() * 0.18
    noise, times = torch.randn_like(latents), torch.randint(0, 1000, (2,), device="cuda")
    texts = torch.randn(2, 77, 512, device="cuda")
    with torch.autocast("cuda", torch.float16):
        guess = unet(noises.add_noise(latents, noise, times), times, texts).sample
        loss = F.mse_loss(guess, noise)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
