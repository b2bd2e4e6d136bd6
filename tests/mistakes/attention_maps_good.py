"""Looks at how attention changes while a small GPT-2 is fine-tuned."""
import sys
import torch
from transformers import GPT2Config, GPT2LMHeadModel


class AttentionLog:
    def __init__(self):
        self.maps = []

    def add(self, step, attentions):
        self.maps.append((step, attentions))

    def summary(self):
        return {step: len(layers) for step, layers in self.maps}


def main():
    torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
    config = GPT2Config(n_layer=3, n_embd=192, n_head=6, vocab_size=3000, n_positions=160, attn_implementation="eager")
    model = GPT2LMHeadModel(config).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    log = AttentionLog()
    for step in range(8):
        ids = torch.randint(0, 3000, (4, 160), device="cuda")
        out = model(input_ids=ids, labels=ids, output_attentions=True, use_cache=False)
        out.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        log.add(step, [a[0, 0].detach().cpu() for a in out.attentions])
    print(log.summary())
    torch.cuda.memory._dump_snapshot(sys.argv[1])


main()
