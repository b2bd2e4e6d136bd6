"""Trains a small Llama 3 of torchtune with LoRA, its chunked loss and its checkpointing, as its recipes do."""

import torch
from torchtune.models.llama3_2 import lora_llama3_2
from torchtune.modules import TransformerSelfAttentionLayer
from torchtune.modules.loss import CEWithChunkedOutputLoss
from torchtune.modules.peft import get_adapter_params, set_trainable_params
from torchtune.training import set_activation_checkpointing, set_default_dtype

with set_default_dtype(torch.bfloat16), torch.device("cuda"):
    model = lora_llama3_2(
        lora_attn_modules=["q_proj", "v_proj"],
        lora_rank=8,
        lora_alpha=16,
        vocab_size=32000,
        num_layers=4,
        num_heads=16,
        num_kv_heads=4,
        embed_dim=1024,
        max_seq_len=2048,
        intermediate_dim=4096,
    )
set_trainable_params(model, get_adapter_params(model))
set_activation_checkpointing(model, auto_wrap_policy={TransformerSelfAttentionLayer})
loss_of = CEWithChunkedOutputLoss()
model.set_num_output_chunks(loss_of.num_output_chunks)
optimizer = torch.optim.AdamW([parameter for parameter in model.parameters() if parameter.requires_grad], lr=3e-4)
for _ in range(3):
    tokens = torch.randint(32000, (2, 1024), device="cuda")
    loss = loss_of(model(tokens), torch.roll(tokens, -1, 1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
