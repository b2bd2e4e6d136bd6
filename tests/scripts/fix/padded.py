"""A classifier of texts with Hugging Face's model, whose tokenizer has padded each text to the same length."""
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import BertConfig, BertForSequenceClassification

LENGTH = 512


class Texts(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        words = 40 + index * 37 % 160
        ids = torch.randint(1, 30522, (LENGTH,))
        mask = (torch.arange(LENGTH) < words).long()
        return {"input_ids": ids * mask, "attention_mask": mask, "labels": index % 2}


model = BertForSequenceClassification(BertConfig(num_hidden_layers=6)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
for epoch in range(2):
    for batch in DataLoader(Texts(), batch_size=16, num_workers=2):
        batch = {name: value.cuda() for name, value in batch.items()}
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
