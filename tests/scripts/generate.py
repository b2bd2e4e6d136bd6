"""Generates 20 tokens by transformers, which ask after each token whether all texts have ended."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

model = GPT2LMHeadModel(GPT2Config(n_layer=4)).cuda().eval()
ids = torch.randint(0, 50257, (2, 16), device="cuda")
for sample in (False, True):
    text = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=20, do_sample=sample)
    assert text.shape == (2, 36), text.shape
