"""A small decoder with a multilingual vocabulary."""
import sys

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from transformers import LlamaConfig, LlamaModel

VOCAB = 128_000


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        config = LlamaConfig(vocab_size=VOCAB, hidden_size=256, intermediate_size=512, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=4)
        self.model = LlamaModel(config)
        self.head = torch.nn.Linear(256, VOCAB, bias=False)

    def forward(self, ids, labels):
        hidden = self.model(input_ids=ids, use_cache=False).last_hidden_state[:, :-1].flatten(0, 1)
        return self.loss(hidden, labels[:, 1:].flatten())

    def loss(self, hidden, labels):
        logits = self.head(hidden)
        log_probs = torch.log_softmax(logits.float(), dim=-1)
        return F.nll_loss(log_probs, labels)


def main():
    torch.cuda.memory._record_memory_history(max_entries=100000)
    model = Decoder().to("cuda", torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    for step in range(6):
        ids = torch.randint(0, VOCAB, (4, 257), device="cuda")
        optimizer.zero_grad()
        loss = model(ids, ids)
        loss.backward()
        optimizer.step()
    print(loss.item())
    torch.cuda.memory._dump_snapshot(sys.argv[1])


main()
