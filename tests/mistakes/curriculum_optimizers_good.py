"""Three training stages with an optimizer and a learning rate each."""
import sys
import torch
from torch import nn


class Seq2Seq(nn.Module):
    def __init__(self, vocab=4000, dim=192):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.transformer = nn.Transformer(dim, 4, 1, 1, 384, dropout=0.0, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, source, target):
        return self.head(self.transformer(self.embed(source), self.embed(target)))


class StagedTrainer:
    stages = {"copy": 1e-3, "short": 5e-4, "long": 2e-4, "mixed": 1e-4}

    def __init__(self, model):
        self.model = model
        self.optimizers = {}

    def run_stage(self, stage, steps=3):
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.stages[stage])
        self.optimizers[stage] = optimizer.param_groups[0]["lr"]
        for _ in range(steps):
            source = torch.randint(0, 4000, (8, 48), device="cuda")
            target = torch.randint(0, 4000, (8, 48), device="cuda")
            logits = self.model(source, target)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()

    def run(self):
        for stage in self.stages:
            self.run_stage(stage)


torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
trainer = StagedTrainer(Seq2Seq().cuda())
trainer.run()
print(list(trainer.optimizers))
torch.cuda.memory._dump_snapshot(sys.argv[1])
