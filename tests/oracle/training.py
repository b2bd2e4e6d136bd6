"""The training loop of a job, as a plain PyTorch script writes it."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import record_function

import models
from job import Evaluation, Job, Transformer

DEVICE = torch.device("cuda")

ATTENTION_BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "math": SDPBackend.MATH,
}


class Training:
    """A model on the device with its optimizer, and the steps that it takes.

    A batch and a loss live until the next ones take their names, as in a loop at the top of a script.
    """

    inputs: Tensor
    labels: Tensor
    output: Any
    loss: Tensor

    def __init__(self, job: Job, subject: models.Subject) -> None:
        self.job = job
        self.subject = subject
        self.model = subject.model.to(DEVICE)
        self.optimizer = optimizer(job, self.model)
        self.scaler = torch.amp.GradScaler("cuda", enabled=job.grad_scaler)

    def run(self) -> None:
        """All steps of the job."""
        with attention_kernels(self.job):
            for step in range(self.job.steps):
                with record_function(f"ProfilerStep#{step}"):
                    self.train()
                    if self.job.evaluation is not None and (step + 1) % self.job.evaluation.every == 0:
                        self.evaluate(self.job.evaluation)

    def train(self) -> None:
        """Micro batches, then one change of the weights."""
        for _ in range(self.job.accumulation):
            self.load(self.job.batch)
            self.output, loss = self.forward(self.job.keep_outputs)
            self.loss = loss if self.job.accumulation == 1 else loss / self.job.accumulation
            del loss
            self.scaler.scale(self.loss).backward()
        if self.job.clip_grad_norm is not None:
            self.scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.model.parameters(), self.job.clip_grad_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=self.job.set_to_none)
        self.output = None

    def evaluate(self, evaluation: Evaluation) -> None:
        """Passes without training; without `no_grad` a loss holds its graph until the next one is there."""
        self.model.eval()
        with torch.no_grad() if evaluation.no_grad else nullcontext():
            for _ in range(evaluation.batches):
                self.load(evaluation.batch)
                self.loss = self.forward(keep_output=False)[1]
        self.model.train()

    def load(self, samples: int) -> None:
        """Brings a new batch to the device."""
        inputs, labels = self.subject.batch(samples)
        self.inputs = inputs.to(DEVICE)
        self.labels = labels.to(DEVICE)

    def forward(self, keep_output: bool) -> tuple[Any, Tensor]:
        """The output, unless it goes as soon as the loss is there, and the loss of the batch."""
        with autocast(self.job):
            output, loss = self.subject.run(self.model, self.inputs, self.labels)
            if not keep_output:
                output = None
            return output, loss


def optimizer(job: Job, model: nn.Module) -> torch.optim.Optimizer:
    """The job's optimizer over all parameters."""
    rule = job.optimizer
    common = {
        "lr": rule.learning_rate,
        "weight_decay": rule.weight_decay,
        "foreach": rule.implementation == "foreach",
        "fused": rule.implementation == "fused",
    }
    if rule.kind == "sgd":
        return torch.optim.SGD(model.parameters(), momentum=rule.momentum, nesterov=rule.nesterov, **common)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[rule.kind]
    return kind(model.parameters(), betas=rule.betas, eps=rule.epsilon, **common)


def autocast(job: Job) -> AbstractContextManager:
    """The number formats of a forward pass."""
    dtypes = {"autocast-bf16": torch.bfloat16, "autocast-fp16": torch.float16}
    dtype = dtypes.get(job.precision)
    return nullcontext() if dtype is None else torch.autocast("cuda", dtype=dtype)


def attention_kernels(job: Job) -> AbstractContextManager:
    """The kernels that attention may take: all, unless the job names one."""
    attention = job.model.attention if isinstance(job.model, Transformer) else None
    backend = ATTENTION_BACKENDS.get(attention)
    return nullcontext() if backend is None else sdpa_kernel(backend)


def set_number_formats(job: Job) -> None:
    """Whether matrix products and convolutions may use TF32."""
    torch.backends.cuda.matmul.allow_tf32 = job.precision == "tf32"
    torch.backends.cudnn.allow_tf32 = job.precision == "tf32"
