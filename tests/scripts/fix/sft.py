"""Fine-tunes a small Llama by TRL's SFTTrainer, with a tokenizer that is made here."""

import gc
import tempfile

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

# Cycles keep tensors until they are collected, at a moment that any line of Python moves.
gc.disable()

words = ["<pad>", "<eos>", "<unk>", *(f"word{index}" for index in range(200))]
tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
)

dataset = Dataset.from_dict(
    {"text": [" ".join(words[3 + (start + offset) % 200] for offset in range(2000)) for start in range(64)]}
)

model = LlamaForCausalLM(
    LlamaConfig(
        vocab_size=32000,
        hidden_size=768,
        intermediate_size=2048,
        num_hidden_layers=8,
        num_attention_heads=12,
        num_key_value_heads=4,
    )
)

trainer = SFTTrainer(
    model=model,
    args=SFTConfig(
        output_dir=tempfile.mkdtemp(),
        max_length=1024,
        per_device_train_batch_size=4,
        gradient_checkpointing=False,
        bf16=False,
        max_steps=5,
        report_to="none",
        save_strategy="no",
    ),
    train_dataset=dataset,
    processing_class=tokenizer,
)
trainer.train()
