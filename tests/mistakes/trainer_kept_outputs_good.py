"""A Trainer that writes down what the model said, for an error analysis."""
import sys
import torch
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments


class Tags(torch.utils.data.Dataset):
    def __init__(self, n, length=96):
        self.ids = torch.randint(1, 2000, (n, length))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "attention_mask": torch.ones_like(self.ids[i]), "labels": self.ids[i] % 400}


class AnalysingTrainer(Trainer):
    seen = []

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        loss, outputs = super().compute_loss(model, inputs, return_outputs=True, **kwargs)
        self.seen.append(outputs["logits"].detach().argmax(-1).cpu())
        return (loss, outputs) if return_outputs else loss


def main():
    torch.cuda.memory._record_memory_history(max_entries=100000)
    config = BertConfig(vocab_size=2000, hidden_size=96, num_hidden_layers=2, num_attention_heads=2, intermediate_size=192, num_labels=400)
    args = TrainingArguments("tags", max_steps=8, per_device_train_batch_size=32, save_strategy="no", report_to=[], disable_tqdm=True, logging_steps=4)
    trainer = AnalysingTrainer(model=BertForTokenClassification(config), args=args, train_dataset=Tags(256))
    trainer.train()
    print(len(trainer.seen))
    torch.cuda.memory._dump_snapshot(sys.argv[1])


main()
