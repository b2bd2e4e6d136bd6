"""Trains on preferences by TRL's DPOTrainer, with a reference model."""

import tempfile

import words
from datasets import Dataset
from trl import DPOConfig, DPOTrainer

rows = [
    {"prompt": words.text(seed, 40), "chosen": words.text(seed, 90), "rejected": words.text(seed + 1, 70)}
    for seed in range(32)
]
options = DPOConfig(tempfile.mkdtemp(), max_steps=3, bf16=True, report_to=[], save_strategy="no")
data, tokenizer = Dataset.from_list(rows), words.tokenizer()
DPOTrainer(words.model(), words.model(), args=options, train_dataset=data, processing_class=tokenizer).train()
