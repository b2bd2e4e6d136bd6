"""Masked language modelling with transformers' Trainer."""
import sys

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainingArguments

VOCAB = 6000


class Sentences(Dataset):
    def __init__(self, count, length=96):
        self.ids = torch.randint(5, VOCAB, (count, length))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        ids = self.ids[index]
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids}


def masked_accuracy(prediction):
    scores = prediction.predictions
    guess = scores if scores.ndim == 2 else scores.argmax(-1)
    return {"accuracy": float((guess == prediction.label_ids).mean())}


def to_ids(logits, labels):
    return logits.argmax(-1)


def main(path):
    torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
    config = BertConfig(vocab_size=VOCAB, hidden_size=128, num_hidden_layers=2, num_attention_heads=2, intermediate_size=256)
    arguments = TrainingArguments(
        output_dir="mlm", num_train_epochs=3, per_device_train_batch_size=16, per_device_eval_batch_size=16,
        eval_strategy="epoch", eval_accumulation_steps=2, save_strategy="no", report_to=[], disable_tqdm=True, dataloader_pin_memory=False,
    )
    trainer = Trainer(
        model=BertForMaskedLM(config), args=arguments, train_dataset=Sentences(32), eval_dataset=Sentences(128),
        compute_metrics=masked_accuracy, preprocess_logits_for_metrics=to_ids,
    )
    trainer.train()
    torch.cuda.memory._dump_snapshot(path)


main(sys.argv[1])
