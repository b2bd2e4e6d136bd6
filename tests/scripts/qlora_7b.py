"""Fine-tunes a Llama of 7 B parameters with QLoRA by the Trainer, from a folder that has its config and no weights."""

import tempfile

import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, LlamaConfig, Trainer, TrainingArguments

four_bits = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_quant_type="nf4",
    bnb_4bit_use_double_quant=True,
    bnb_4bit_compute_dtype=torch.bfloat16,
)
with tempfile.TemporaryDirectory() as folder:
    LlamaConfig(dtype="bfloat16", architectures=["LlamaForCausalLM"]).save_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, quantization_config=four_bits, device_map="auto")
model = prepare_model_for_kbit_training(model)
lora = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")
model = get_peft_model(model, lora)
ids = torch.randint(0, 32000, (12, 512))
data = [{"input_ids": row, "labels": row} for row in ids]
options = TrainingArguments(
    tempfile.mkdtemp(),
    per_device_train_batch_size=4,
    max_steps=3,
    optim="paged_adamw_8bit",
    bf16=True,
    report_to=[],
    save_strategy="no",
)
Trainer(model, options, train_dataset=data).train()
