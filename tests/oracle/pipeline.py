"""A pipeline as one rank of several: `PipelineStage` and the schedules of torch.distributed.pipelining."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
from torch.profiler import record_function
from transformers.loss.loss_utils import ForCausalLMLoss

import models
import training
from job import Job

SCHEDULES = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B}


class Stage(nn.Module):
    """Some layers of a language model of transformers, with the embedding before the first and the head behind the last."""

    def __init__(self, model: nn.Module, layers: range, is_first: bool, is_last: bool) -> None:
        super().__init__()
        self.is_gpt2 = hasattr(model, "transformer")
        base = model.transformer if self.is_gpt2 else model.model
        if is_first:
            self.tokens = base.wte if self.is_gpt2 else base.embed_tokens
            if self.is_gpt2:
                self.positions, self.dropout = base.wpe, base.drop
        own = base.h if self.is_gpt2 else base.layers
        self.layers = nn.ModuleDict({str(index): own[index] for index in layers})
        if is_last:
            self.norm = base.ln_f if self.is_gpt2 else base.norm
        if not self.is_gpt2:
            self.rotary = base.rotary_emb
        if is_last:
            self.head = model.lm_head
        self.is_first, self.is_last = is_first, is_last

    def forward(self, hidden: Tensor) -> Tensor:
        """What the next stage gets, or the logits."""
        if self.is_first:
            hidden = self.tokens(hidden)
        ids = torch.arange(hidden.shape[1], device=hidden.device).unsqueeze(0)
        if self.is_first and self.is_gpt2:
            hidden = self.dropout(hidden + self.positions(ids))
        named = {} if self.is_gpt2 else {"position_embeddings": self.rotary(hidden, ids), "position_ids": ids}
        for layer in self.layers.values():
            hidden = layer(hidden, attention_mask=None, **named)
        return self.head(self.norm(hidden)) if self.is_last else hidden


class Training:
    """A stage on the device with its schedule and its optimizer, and the steps that it takes."""

    def __init__(self, job: Job, subject: models.Subject) -> None:
        how = job.pipeline
        self.job = job
        self.batch = subject.batch
        self.is_first, self.is_last = how.rank == 0, how.rank == how.ranks - 1
        stage = Stage(subject.model, layers(job.model.layers, how.rank, how.ranks), self.is_first, self.is_last)
        self.model = stage.train().to(training.DEVICE)
        inputs, outputs = self.shapes()
        device = torch.device("cuda", torch.cuda.current_device())
        there = PipelineStage(self.model, how.rank, how.ranks, device, input_args=(inputs,), output_args=(outputs,))
        self.schedule = SCHEDULES[how.schedule](there, how.micro_batches, loss_fn=self.loss)
        self.optimizer = training.optimizer(job, self.model)
        self.output: Any = None

    def shapes(self) -> tuple[Tensor, Tensor]:
        """What the stage gets of each part of a batch, and what it gives, on the meta device."""
        job, model = self.job, self.job.model
        part = (job.batch // job.pipeline.micro_batches, job.sequence)
        hidden, logits = (
            torch.empty(*part, features, dtype=models.weight_dtype(job), device="meta")
            for features in (model.hidden, model.vocabulary)
        )
        tokens = torch.empty(part, dtype=torch.long, device="meta")
        return tokens if self.is_first else hidden, logits if self.is_last else hidden

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss that transformers' models compute."""
        return ForCausalLMLoss(logits, labels, self.job.model.vocabulary)

    def run(self) -> None:
        """All steps of the job."""
        with training.attention_kernels(self.job):
            for step in range(self.job.steps):
                with record_function(f"ProfilerStep#{step}"):
                    self.train()

    def train(self) -> None:
        """All parts of a batch, then one change of the weights; losses and batch live until the next take their names."""
        tokens, labels = self.batch(self.job.batch)
        if self.is_first:
            self.inputs = tokens.to(training.DEVICE)
        if self.is_last:
            self.labels = labels.to(training.DEVICE)
        self.losses: list[Tensor] = []
        self.output = self.schedule.step(
            *([self.inputs] if self.is_first else []),
            target=self.labels if self.is_last else None,
            losses=self.losses if self.is_last else None,
            return_outputs=self.job.keep_outputs,
        )
        if self.job.clip_grad_norm is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.job.clip_grad_norm)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=self.job.set_to_none)
        self.output = None


def layers(count: int, rank: int, ranks: int) -> range:
    """The layers of a rank: as many for each, and one more for the first where some are left over."""
    each, more = divmod(count, ranks)
    start = rank * each + min(rank, more)
    return range(start, start + each + (rank < more))
