"""Gradient accumulation, a backward for each micro-batch, under autocast with a scaler."""
import sys
import torch
from torch import nn


class Wav2Letter(nn.Module):
    def __init__(self, width=160):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, width, 48, 8), nn.ReLU(), nn.Conv1d(width, width, 7, padding=3), nn.ReLU(),
            nn.Conv1d(width, width, 7, padding=3), nn.ReLU(), nn.Conv1d(width, 29, 1),
        )

    def forward(self, wave):
        return self.net(wave).log_softmax(1)


def main(path, accumulate=4):
    torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
    model = Wav2Letter().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    scaler = torch.amp.GradScaler("cuda")
    for micro in range(24):
        wave = torch.randn(8, 1, 8000).cuda()
        with torch.autocast("cuda", dtype=torch.float16):
            log_probs = model(wave)
            target = torch.randint(0, 29, (8, log_probs.shape[-1])).cuda()
            loss = nn.functional.nll_loss(log_probs.float(), target) / accumulate
        scaler.scale(loss).backward()
        if (micro + 1) % accumulate == 0:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            print(micro, loss.item())
    torch.cuda.memory._dump_snapshot(path)


main(sys.argv[1])
