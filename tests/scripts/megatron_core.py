"""Trains a small GPT of Megatron core with tensor parallelism, as in its quick start; run it by torchrun."""

import os

import torch
from megatron.core import parallel_state
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from megatron.core.models.gpt.gpt_model import GPTModel
from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed
from megatron.core.transformer.transformer_config import TransformerConfig

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
torch.distributed.init_process_group("nccl")
parallel_state.initialize_model_parallel(tensor_model_parallel_size=2)
model_parallel_cuda_manual_seed(123)
config = TransformerConfig(
    num_layers=4,
    hidden_size=1024,
    num_attention_heads=16,
    tensor_model_parallel_size=2,
    pipeline_dtype=torch.float32,
)
layers = get_gpt_layer_local_spec()
model = GPTModel(config=config, transformer_layer_spec=layers, vocab_size=32000, max_sequence_length=512).cuda()
optimizer = torch.optim.Adam(model.parameters())
places = torch.arange(512, device="cuda").expand(4, 512)
mask = torch.ones(4, 1, 512, 512, device="cuda").tril() < 0.5
for _ in range(3):
    tokens = torch.randint(32000, (4, 512), device="cuda")
    loss = model(tokens, places, mask, labels=tokens).float().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
torch.distributed.destroy_process_group()
