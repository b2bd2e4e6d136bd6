"""A module in the style of Lightning, with its own small loop."""
import sys
import torch
from torch import nn
import torch.nn.functional as F


class DepthModule(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        layers, channels = [], 3
        for _ in range(4):
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.GroupNorm(4, width), nn.SiLU()]
            channels = width
        self.net = nn.Sequential(*layers, nn.Conv2d(width, 1, 1))
        self.training_step_outputs = []

    def training_step(self, batch, batch_idx):
        image, depth = batch
        pred = self.net(image)
        loss = F.l1_loss(pred, depth)
        self.training_step_outputs.append({"loss": loss.detach(), "pred": pred})
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-4)

    def on_train_epoch_end(self):
        worst = max(o["loss"].item() for o in self.training_step_outputs)
        print("worst batch", worst)


class Loop:
    def __init__(self, epochs, batches):
        self.epochs, self.batches = epochs, batches

    def fit(self, module):
        module.cuda()
        optimizer = module.configure_optimizers()
        for epoch in range(self.epochs):
            for i in range(self.batches):
                batch = torch.rand(4, 3, 160, 160).cuda(), torch.rand(4, 1, 160, 160).cuda()

                def closure():
                    optimizer.zero_grad()
                    loss = module.training_step(batch, i)
                    loss.backward()
                    return loss

                optimizer.step(closure)
            module.on_train_epoch_end()


if __name__ == "__main__":
    torch.cuda.memory._record_memory_history()
    module = DepthModule()
    Loop(epochs=3, batches=4).fit(module)
    torch.cuda.memory._dump_snapshot(sys.argv[1])
