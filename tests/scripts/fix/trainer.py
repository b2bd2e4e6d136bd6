import tempfile
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, index):
        ids = torch.randint(0, 50257, (512,))
        return {"input_ids": ids, "labels": ids, "attention_mask": torch.ones_like(ids)}


with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=8,
        max_steps=6,
        logging_steps=2,
        report_to=[],
        save_strategy="no",
    )
    model = GPT2LMHeadModel(GPT2Config(n_layer=12, attn_implementation="eager"))
    Trainer(model, arguments, train_dataset=Texts()).train()
