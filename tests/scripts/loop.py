"""Trains a GPT-2 of transformers and prints what the loop cost: loop.py STEPS [ENTRIES], which records by itself."""

import json
import sys
import time

import torch
from transformers import GPT2Config, GPT2LMHeadModel

WARM = 5


def events():
    """Returns the events of memory so far: one for each block and segment, two for each block that is freed."""
    stats = torch._C._cuda_memoryStats(0)
    blocks, segments = stats["allocation"]["all"], stats["segment"]["all"]
    return blocks["allocated"] + 2 * blocks["freed"] + segments["allocated"] + segments["freed"]


if len(sys.argv) > 2:
    torch.cuda.memory._record_memory_history(context="alloc", stacks="python", max_entries=int(sys.argv[2]))
with torch.device("cuda"):
    model = GPT2LMHeadModel(GPT2Config())
optimizer = torch.optim.AdamW(model.parameters())
texts = torch.randint(0, 50257, (4, 1024))
for step in range(WARM + int(sys.argv[1])):
    if step == WARM:
        begin, wall, processor = events(), time.perf_counter(), time.process_time()
    ids = texts.cuda()
    model(input_ids=ids, labels=ids).loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
spent = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}
print(json.dumps({"loop": {"events": events() - begin, **spent}}), flush=True)
