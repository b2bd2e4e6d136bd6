"""Sequence classification with transformers' Trainer, evaluation by loss only."""
import sys
import torch
from transformers import GPT2Config, GPT2ForSequenceClassification, Trainer, TrainingArguments


class Reviews(torch.utils.data.Dataset):
    def __init__(self, n):
        self.ids = torch.randint(1, 3000, (n, 64))
        self.stars = torch.randint(0, 5, (n,))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "attention_mask": torch.ones(64, dtype=torch.long), "labels": self.stars[i]}


if __name__ == "__main__":
    torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
    config = GPT2Config(vocab_size=3000, n_layer=3, n_embd=192, n_head=3, n_positions=64, num_labels=5, pad_token_id=0)
    args = TrainingArguments(
        "reviews", max_steps=6, per_device_train_batch_size=8, gradient_accumulation_steps=2, bf16=True, eval_strategy="steps",
        eval_steps=3, save_strategy="no", report_to=[], disable_tqdm=True, prediction_loss_only=True, max_grad_norm=1.0,
    )
    trainer = Trainer(model=GPT2ForSequenceClassification(config), args=args, train_dataset=Reviews(96), eval_dataset=Reviews(32))
    trainer.train()
    torch.cuda.memory._dump_snapshot(sys.argv[1])
