"""Trains Llama 3.2 3B with random weights as torchtune's full_finetune_single_device does, with the flags of its README.

Usage: torchtune_ladder.py [compile] [chunks] [checkpoint] [in_backward] [offload] [8bit]
"""

import sys

import torch
from torchtune import modules, training
from torchtune.models.llama3_2 import llama3_2_3b
from torchtune.modules.loss import CEWithChunkedOutputLoss

FLAGS = sys.argv[1:]
device = torch.device("cuda")
with training.set_default_dtype(torch.bfloat16), device:
    model = llama3_2_3b()
if "compile" in FLAGS:
    training.compile_model(model)
if "checkpoint" in FLAGS:
    training.set_activation_checkpointing(model, auto_wrap_policy={modules.TransformerSelfAttentionLayer})
activations = training.get_act_offloading_ctx_manager(model, "offload" in FLAGS)
loss_fn = CEWithChunkedOutputLoss() if "chunks" in FLAGS else torch.nn.CrossEntropyLoss()
if "compile" in FLAGS:
    # As the recipe does, which drops the result: only the loss in chunks is compiled in place.
    training.compile_loss(loss_fn)
if "chunks" in FLAGS:
    model.set_num_output_chunks(loss_fn.num_output_chunks)

options = {"lr": 2e-5}
if "8bit" in FLAGS:
    from bitsandbytes.optim import AdamW8bit as AdamW
else:
    from torch.optim import AdamW

    options["fused"] = True
if "in_backward" in FLAGS:
    each = {parameter: AdamW([parameter], **options) for parameter in model.parameters()}
    training.register_optim_in_bwd_hooks(model=model, optim_dict=each)
else:
    optimizer = AdamW(model.parameters(), **options)

for step in range(2):
    tokens = torch.randint(0, 128256, (2, 4096)).cuda()
    labels = torch.hstack((tokens[:, 1:], torch.full((2, 1), -100, device=device)))
    with activations:
        logits = model(tokens)
    if "chunks" not in FLAGS:
        labels, logits = labels.reshape(-1), logits.reshape(-1, logits.size(-1))
    loss = loss_fn(logits, labels)
    del logits
    loss.backward()
    if "in_backward" not in FLAGS:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
