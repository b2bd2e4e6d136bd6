"""Trains and evaluates every few steps (token classification, Hugging Face model, own loop)."""
import sys
import torch
from transformers import DistilBertConfig, DistilBertForTokenClassification


def batch(size):
    return {
        "input_ids": torch.randint(0, 4000, (size, 128), device="cuda"),
        "attention_mask": torch.ones(size, 128, dtype=torch.long, device="cuda"),
        "labels": torch.randint(0, 9, (size, 128), device="cuda"),
    }


@torch.no_grad()
def evaluate(model, batches=4):
    model.eval()
    correct = count = total = 0
    for _ in range(batches):
        data = batch(16)
        out = model(**data)
        total += out.loss.item()
        correct += (out.logits.argmax(-1) == data["labels"]).sum().item()
        count += data["labels"].numel()
    model.train()
    return total / batches, correct / count


torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
config = DistilBertConfig(vocab_size=4000, dim=192, hidden_dim=384, n_layers=3, n_heads=3, num_labels=9)
model = DistilBertForTokenClassification(config).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
history = []
for step in range(1, 10):
    loss = model(**batch(8)).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 3 == 0:
        history.append((step, *evaluate(model)))
print(history)
torch.cuda.memory._dump_snapshot(sys.argv[1])
