"""Trains a Hugging Face `config.json` with `TrainingArguments` by Hugging Face's Trainer, and writes the snapshot.

usage: trainer.py CONFIG.json ARGUMENTS.json --sequence TOKENS [--dtype float32] -o OUT.pickle

Prints one line of JSON: {"peak_allocated_bytes", "peak_reserved_bytes", "oom"}.
"""

import argparse
import json
import tempfile
from pathlib import Path

import torch
from torch import Tensor
from torch.utils.data import Dataset
from transformers import AutoConfig, AutoModelForCausalLM, Trainer, TrainingArguments

from models import materialized


class Tokens(Dataset):
    """Samples of one length, as a collator would give them: the values do not matter."""

    def __init__(self, samples: int, sequence: int) -> None:
        self.samples = samples
        self.sequence = sequence

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        tokens = torch.ones(self.sequence, dtype=torch.long)
        return {"input_ids": tokens, "labels": tokens}


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(description="Runs Hugging Face's Trainer and records its memory.")
    parser.add_argument("config", type=Path, help="the model's config.json")
    parser.add_argument("arguments", type=Path, help="TrainingArguments, JSON")
    parser.add_argument("--sequence", type=int, required=True, help="tokens of a sample")
    parser.add_argument("--dtype", help="number format of the weights, such as float32; the config's by default")
    parser.add_argument("-o", "--output", type=Path, required=True, help="snapshot to write")
    options = parser.parse_args()

    config = AutoConfig.from_pretrained(options.config)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=options.dtype or config.dtype or "float32")
    torch.cuda.memory._record_memory_history(stacks="python")
    with tempfile.TemporaryDirectory() as folder:
        arguments = training_arguments(json.loads(options.arguments.read_text()), folder)
        samples = arguments.max_steps * arguments.train_batch_size * arguments.gradient_accumulation_steps
        trainer = Trainer(materialized(model), arguments, train_dataset=Tokens(samples, options.sequence))
        trainer.train()
    torch.cuda.memory._dump_snapshot(str(options.output))
    figures = {
        "peak_allocated_bytes": torch.cuda.max_memory_allocated(),
        "peak_reserved_bytes": torch.cuda.max_memory_reserved(),
        "oom": None,
    }
    print(json.dumps(figures))


def training_arguments(written: dict[str, object], folder: str) -> TrainingArguments:
    """The arguments as written, without what would be printed, logged or saved."""
    off = {"report_to": [], "save_strategy": "no", "logging_strategy": "no", "disable_tqdm": True}
    return TrainingArguments(**written | off | {"output_dir": folder})


if __name__ == "__main__":
    main()
