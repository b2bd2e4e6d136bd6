"""The training loop of a job, as a plain PyTorch script writes it."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import record_function

import data
import ddp
import fsdp
import models
import replicas
import saving
from job import Bert, Evaluation, Job, Transformer

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
        self.model = subject.model.to(DEVICE) if job.fsdp is None else fsdp.sharded(subject.model, job.fsdp)
        if job.replicas > 1:
            self.model = replicas.wrapped(subject, job.replicas, job.gather)
        self.model = ddp.wrapped(job, self.model)
        self.run_model = replicas.run_of(subject, job.gather)
        self.optimizer = optimizer(job, self.model)
        self.scaler = torch.amp.GradScaler("cuda", enabled=job.grad_scaler)
        transfer = data.Transfer(job, subject.batch, models.weight_dtype(job))
        self.batches, self.validation = data.Feed(transfer), data.Feed(transfer)
        self.batches.start(data.training_sizes(job))

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
        for micro_batch in range(self.job.accumulation):
            ddp.reduce_after(self.model, is_last=micro_batch + 1 == self.job.accumulation)
            self.batches.next(self)
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
        ddp.settle(self.job)

    def evaluate(self, evaluation: Evaluation) -> None:
        """Passes without training; without `no_grad` a loss holds its graph until the next one is there."""
        self.model.eval()
        self.validation.start(data.evaluation_sizes(self.job))
        with torch.no_grad() if evaluation.no_grad else nullcontext():
            for _ in range(evaluation.batches):
                self.validation.next(self)
                self.loss = self.forward(keep_output=False)[1]
        self.model.train()

    def forward(self, keep_output: bool) -> tuple[Any, Tensor]:
        """The output, unless it goes as soon as the loss is there, and the loss of the batch."""
        with autocast(self.job), saving.activations(self.job) if self.model.training else nullcontext():
            output, loss = self.run_model(self.model, self.inputs, self.labels)
            # Models that compute their loss themselves do so on each device.
            loss = loss.mean() if loss.dim() > 0 else loss
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
    if rule.state == "8bit":
        return saving.eight_bit(rule, model)
    if rule.kind == "sgd":
        own: dict[str, Any] = {"momentum": rule.momentum, "nesterov": rule.nesterov}
    else:
        own = {"betas": rule.betas, "eps": rule.epsilon}
    kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[rule.kind]
    if rule.offload:
        return saving.on_host(kind, rule, model, common | own)
    return kind(model.parameters(), **common, **own)


def autocast(job: Job) -> AbstractContextManager:
    """The number formats of a forward pass."""
    dtypes = {"autocast-bf16": torch.bfloat16, "autocast-fp16": torch.float16}
    dtype = dtypes.get(job.precision)
    return nullcontext() if dtype is None else torch.autocast("cuda", dtype=dtype)


def attention_kernels(job: Job) -> AbstractContextManager:
    """The kernels that attention may take: all, unless the job names one."""
    match job.model:
        case Transformer(attention=attention) | Bert(attention=attention):
            backend = ATTENTION_BACKENDS.get(attention)
        case _:
            backend = None
    return nullcontext() if backend is None else sdpa_kernel(backend)


def set_number_formats(job: Job) -> None:
    """Whether matrix products and convolutions may use TF32."""
    torch.backends.cuda.matmul.allow_tf32 = job.precision == "tf32"
    torch.backends.cudnn.allow_tf32 = job.precision == "tf32"
