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
import mistakes
import models
import replicas
import saving
import tensor_parallel
from job import Bert, Evaluation, Job, Transformer, Unet, Vit

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
        subject = tensor_parallel.divided(job, subject)
        self.subject = subject
        self.model = subject.model.to(DEVICE) if job.fsdp is None else fsdp.sharded(subject.model, job.fsdp)
        if job.replicas > 1:
            self.model = replicas.wrapped(subject, job.replicas, job.gather)
        self.model = ddp.wrapped(job, self.model)
        self.run_model = mistakes.judged(replicas.run_of(subject, job.gather), job)
        mistakes.prepare(self.model, job)
        self.optimizer = optimizer(job, self.model)
        self.scaler = torch.amp.GradScaler("cuda", enabled=job.grad_scaler)
        transfer = data.Transfer(job, subject.batch, models.weight_dtype(job))
        self.batches, self.validation = data.Feed(transfer), data.Feed(transfer)
        self.batches.start(data.training_sizes(job))
        self.kept: list[Any] = []
        self.predictions: Tensor | None = None
        self.total: Any = 0

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
            self.keep("keep_batches", (self.inputs, self.labels))
            self.output, loss = self.forward(self.job.keep_outputs)
            share = loss if self.job.accumulation == 1 else loss / self.job.accumulation
            self.loss = self.loss + share if micro_batch > 0 and self.makes("backward_once") else share
            del loss, share
            self.keep("keep_losses", self.loss)
            self.keep("keep_grad_fns", self.loss.grad_fn)
            if self.makes("sum_losses"):
                self.total += self.loss
            if micro_batch + 1 == self.job.accumulation or not self.makes("backward_once"):
                self.scaler.scale(self.loss).backward(retain_graph=self.makes("retain_graph"))
        if self.job.clip_grad_norm is not None:
            self.scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.model.parameters(), self.job.clip_grad_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.keep("keep_gradients", [parameter.grad for parameter in self.model.parameters()])
        if not self.makes("never_zero_grad"):
            self.optimizer.zero_grad(set_to_none=self.job.set_to_none)
        self.output = None
        if self.makes("empty_cache_every_step"):
            torch.cuda.empty_cache()
        ddp.settle(self.job)

    def evaluate(self, evaluation: Evaluation) -> None:
        """Passes without training; without `no_grad` a loss holds its graph until the next one is there."""
        self.model.eval()
        self.validation.start(data.evaluation_sizes(self.job))
        with torch.no_grad() if evaluation.no_grad else nullcontext():
            for _ in range(evaluation.batches):
                self.validation.next(self)
                self.loss = self.forward(keep_output=False)[1]
                self.keep("keep_evaluation_losses", self.loss)
        self.model.train()

    def makes(self, mistake: str) -> bool:
        """Whether the script makes a mistake."""
        return mistake in self.job.mistakes

    def keep(self, mistake: str, value: Any) -> None:
        """Keeps a value for good, where that is a mistake of the script."""
        if self.makes(mistake):
            self.kept.append(value)

    def collect(self, output: Any) -> None:
        """Adds the logits to those of all batches before, where that is a mistake of the script."""
        if self.makes("allocate_in_loop"):
            rows = getattr(output, "logits", output).detach().flatten(0, -2)
            self.predictions = torch.cat([rows.new_empty(0) if self.predictions is None else self.predictions, rows])

    def forward(self, keep_output: bool) -> tuple[Any, Tensor]:
        """The output, unless it goes as soon as the loss is there, and the loss of the batch."""
        if self.makes("loss_outside_autocast"):
            with autocast(self.job):
                output = self.model(self.inputs)
            loss = mistakes.loss_of(output, self.labels)
            self.keep_output(output)
            return output if keep_output else None, loss
        with autocast(self.job), saving.activations(self.job) if self.model.training else nullcontext():
            output, loss = self.run_model(self.model, self.inputs, self.labels)
            # Models that compute their loss themselves do so on each device.
            loss = loss.mean() if loss.dim() > 0 else loss
            self.keep_output(output)
            if not keep_output:
                output = None
            return output, loss

    def keep_output(self, output: Any) -> None:
        """Keeps an output of the training for good, where that is a mistake of the script."""
        if self.model.training:
            self.keep("keep_outputs_forever", output)
            self.collect(output)


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
    return ddp.optimizer(job, model, kind, **common, **own)


def autocast(job: Job) -> AbstractContextManager:
    """The number formats of a forward pass."""
    dtypes = {"autocast-bf16": torch.bfloat16, "autocast-fp16": torch.float16}
    dtype = dtypes.get(job.precision)
    return nullcontext() if dtype is None else torch.autocast("cuda", dtype=dtype)


def attention_kernels(job: Job) -> AbstractContextManager:
    """The kernels that attention may take: all, unless the job names one."""
    match job.model:
        case Transformer(attention=attention) | Unet(attention=attention):
            backend = ATTENTION_BACKENDS.get(attention)
        case Bert(encoder=encoder) | Vit(encoder=encoder):
            backend = ATTENTION_BACKENDS.get(encoder.attention)
        case _:
            backend = None
    return nullcontext() if backend is None else sdpa_kernel(backend)


def set_number_formats(job: Job) -> None:
    """Whether matrix products and convolutions may use TF32."""
    torch.backends.cuda.matmul.allow_tf32 = job.precision == "tf32"
    torch.backends.cudnn.allow_tf32 = job.precision == "tf32"
