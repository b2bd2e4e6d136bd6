"""Trains on a reward by TRL's GRPOTrainer, which generates its own texts."""

import tempfile

import words
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer


def length(completions, **ignored):
    return [float(len(text)) for text in completions]


options = GRPOConfig(
    tempfile.mkdtemp(),
    per_device_train_batch_size=4,
    num_generations=4,
    max_completion_length=32,
    max_steps=2,
    bf16=True,
    report_to=[],
    save_strategy="no",
)
data = Dataset.from_dict({"prompt": [words.text(1, 20)] * 32})
tokenizer = words.tokenizer()
GRPOTrainer(words.model(), length, args=options, train_dataset=data, processing_class=tokenizer).train()
