"""GPT-2 with gradient checkpointing."""
import sys
import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.cuda.memory._record_memory_history(context="alloc", max_entries=100000)
config = GPT2Config(n_layer=4, n_embd=256, n_head=4, vocab_size=5000, n_positions=256, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config).cuda()
model.gradient_checkpointing_enable()
model.train()
decay = [p for p in model.parameters() if p.dim() > 1]
rest = [p for p in model.parameters() if p.dim() <= 1]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=3e-4)
schedule = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=4)


def step():
    ids = torch.randint(0, 5000, (8, 256)).cuda()
    loss = model(input_ids=ids, labels=ids, use_cache=False).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item()


for i in range(5):
    print(i, step())
torch.cuda.memory._dump_snapshot(sys.argv[1])
