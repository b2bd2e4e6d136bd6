"""Semi-supervised training with a teacher that is refreshed every round."""
import copy
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F


def student_net(width=256):
    return nn.Sequential(
        nn.Linear(640, width), nn.LayerNorm(width), nn.GELU(),
        nn.Linear(width, 3 * width), nn.LayerNorm(3 * width), nn.GELU(),
        nn.Linear(3 * width, width), nn.LayerNorm(width), nn.GELU(), nn.Linear(width, 14),
    )


class MeanTeacher:
    def __init__(self, student, decay=0.99):
        self.decay = decay
        self.teachers = [copy.deepcopy(student).requires_grad_(False)]

    @property
    def current(self):
        return self.teachers[-1]

    @torch.no_grad()
    def refresh(self, student):
        teacher = copy.deepcopy(self.current)
        for t, s in zip(teacher.parameters(), student.parameters()):
            t.lerp_(s, 1 - self.decay)
        self.teachers.append(teacher)


torch.cuda.memory._record_memory_history(max_entries=100000)
student = student_net().cuda()
ema = MeanTeacher(student)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
for step in range(9):
    x, y = torch.randn(128, 640).cuda(), torch.randint(0, 14, (128,)).cuda()
    unlabelled = torch.randn(256, 640).cuda()
    with torch.no_grad():
        target = ema.current(unlabelled).softmax(-1)
    loss = F.cross_entropy(student(x), y) + F.mse_loss(student(unlabelled).softmax(-1), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.refresh(student)
torch.cuda.memory._dump_snapshot(sys.argv[1])
