"""Trains a small GPT-2 by the Trainer of transformers, in bf16, with two data-loader workers."""

import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        ids = torch.randint(0, 50257, (256,))
        return {"input_ids": ids, "labels": ids, "attention_mask": torch.ones_like(ids)}


with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=4,
        max_steps=6,
        bf16=True,
        dataloader_num_workers=2,
        logging_steps=2,
        report_to=[],
        save_strategy="no",
    )
    Trainer(GPT2LMHeadModel(GPT2Config(n_layer=4)), arguments, train_dataset=Texts()).train()
