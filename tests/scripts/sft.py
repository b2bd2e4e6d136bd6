"""Fine-tunes by TRL's SFTTrainer."""

import tempfile

import words
from datasets import Dataset
from trl import SFTConfig, SFTTrainer

data = Dataset.from_dict({"text": [words.text(seed, 300 + seed % 200) for seed in range(32)]})
options = SFTConfig(tempfile.mkdtemp(), max_steps=3, bf16=True, report_to=[], save_strategy="no", max_length=512)
SFTTrainer(words.model(), options, train_dataset=data, processing_class=words.tokenizer()).train()
