"""What feeds a training: batches of the sizes that the recorder draws too, and how they get to the device."""

from collections import deque
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Callable, Iterator

import torch
from torch import Tensor

from job import Job, ResNet

DEVICE = torch.device("cuda")

# ImageNet's mean of each colour, and its deviation, from 0 to 1 as torchvision has them.
MEAN = [0.485, 0.456, 0.406]
DEVIATION = [0.229, 0.224, 0.225]
WHITE = 255

BITS = 2**64 - 1


@dataclass(frozen=True)
class Size:
    """How large a batch is."""

    samples: int
    length: int
    """Tokens of each sample; height and width of images where the model takes any."""


def longest(job: Job) -> int:
    """The length of the longest samples."""
    return job.model.image_size if isinstance(job.model, ResNet) else job.sequence


def training_sizes(job: Job) -> list[Size]:
    """The micro batches of the whole training."""
    dice, sizes, left = split_mix_64(job.data.seed), [], 0
    while len(sizes) < job.steps * job.accumulation:
        left = left or job.data.samples or BITS
        wanted = draw(job.data.batches, job.data.smallest, next(dice), job.batch)
        length = length_of(job, next(dice))
        samples = min(wanted, left)
        left -= samples
        if samples == wanted or not job.data.drop_last:
            sizes.append(Size(samples, length))
    if job.data.longest_first:
        largest = max(range(len(sizes)), key=lambda index: sizes[index].samples * sizes[index].length)
        sizes[0], sizes[largest] = sizes[largest], sizes[0]
    return sizes


def evaluation_sizes(job: Job) -> list[Size]:
    """The batches of one evaluation, the same each time."""
    dice = split_mix_64(BITS - job.data.seed)
    return [Size(job.evaluation.batch, length_of(job, next(dice))) for _ in range(job.evaluation.batches)]


def length_of(job: Job, random: int) -> int:
    """The length of a batch's samples."""
    drawn = draw(job.data.lengths, job.data.shortest, random, longest(job))
    multiple = job.data.pad_to_multiple_of
    return min(-(-drawn // multiple) * multiple, longest(job))


def draw(spread: str, least: int | None, random: int, most: int) -> int:
    """A size up to `most`, from 64 random bits."""
    if spread == "fixed":
        return most
    share = (random >> 11) / 2**53
    if spread == "long-tailed":
        share = (share * share) * (share * share)
    return least + int(share * (most - least + 1))


def split_mix_64(seed: int) -> Iterator[int]:
    """SplitMix64 of Steele, Lea and Flood, with Vigna's constants."""
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & BITS
        mixed = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & BITS
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & BITS
        yield mixed ^ (mixed >> 31)


class Transfer:
    """How a batch gets from host memory to the device."""

    buffers: list[Tensor] | None = None

    def __init__(self, job: Job, batch: Callable[[int], tuple[Tensor, Tensor]], dtype: torch.dtype) -> None:
        self.job = job
        self.data = job.data
        self.batch = batch
        self.dtype = dtype
        if self.data.normalize != "on-host":
            self.mean, self.deviation = (self.colours(shares) for shares in (MEAN, DEVIATION))

    def colours(self, shares: list[float]) -> Tensor:
        """A number for each colour, on the device."""
        return torch.tensor([share * WHITE for share in shares], dtype=self.dtype).view(1, 3, 1, 1).to(DEVICE)

    def bring(self, size: Size, target: Any) -> None:
        """Gives the batch's tensors their names, one after the other: what had a name before is freed."""
        if self.data.reuse_buffer and self.buffers is None:
            most = max(self.job.batch, self.job.evaluation.batch if self.job.evaluation else 0)
            largest = self.host_batch(Size(most, longest(self.job)))
            self.buffers = [torch.empty_like(tensor, device=DEVICE) for tensor in largest]
        inputs, labels = self.host_batch(size)
        target.inputs = self.to_device(0, inputs)
        if self.data.normalize == "in-place":
            target.inputs = target.inputs.to(self.dtype)
            target.inputs.sub_(self.mean).div_(self.deviation)
        elif self.data.normalize == "out-of-place":
            target.inputs = (target.inputs.to(self.dtype) - self.mean) / self.deviation
        target.labels = self.to_device(1, labels)

    def host_batch(self, size: Size) -> tuple[Tensor, Tensor]:
        """A batch in host memory, as a data loader hands it over."""
        inputs, labels = (self.cut(tensor, size.length) for tensor in self.batch(size.samples))
        if self.data.normalize != "on-host":
            inputs = inputs.to(torch.uint8)
        return (inputs.pin_memory(), labels.pin_memory()) if self.data.pin_memory else (inputs, labels)

    def cut(self, tensor: Tensor, length: int) -> Tensor:
        """Shorter samples: fewer tokens, or the corner of images."""
        if length == longest(self.job) or tensor.dim() == 1:
            return tensor
        return tensor[:, :length].contiguous() if tensor.dim() == 2 else torch.zeros_like(tensor[..., :length, :length])

    def to_device(self, index: int, host: Tensor) -> Tensor:
        """A tensor of its own, or the part of the buffer that it fills."""
        if self.buffers is None:
            return host.to(DEVICE, non_blocking=self.data.pin_memory)
        return self.buffers[index].as_strided(host.size(), host.stride()).copy_(host)


class Feed:
    """Batches in a row, some of them on the device ahead of their use: NVIDIA's `data_prefetcher`."""

    side: torch.cuda.Stream | None = None

    def __init__(self, transfer: Transfer) -> None:
        self.transfer = transfer
        self.sizes: Iterator[Size] = iter(())
        self.ahead: deque[SimpleNamespace] = deque()

    def start(self, sizes: list[Size]) -> None:
        """Begins with batches of these sizes."""
        self.sizes = iter(sizes)

    def next(self, target: Any) -> None:
        """Gives the tensors of the next batch their names."""
        if self.transfer.data.prefetch == 0:
            self.transfer.bring(next(self.sizes), target)
            return
        self.side = self.side or torch.cuda.Stream()
        if not self.ahead:
            for _ in range(self.transfer.data.prefetch):
                self.preload()
        torch.cuda.current_stream().wait_stream(self.side)
        batch = self.ahead.popleft()
        for tensor in (batch.inputs, batch.labels):
            tensor.record_stream(torch.cuda.current_stream())
        del tensor
        self.preload()
        target.inputs, target.labels = batch.inputs, batch.labels

    def preload(self) -> None:
        """Brings one more batch to the device, if there is one."""
        size = next(self.sizes, None)
        if size is not None:
            batch = SimpleNamespace()
            with torch.cuda.stream(self.side):
                self.transfer.bring(size, batch)
            self.ahead.append(batch)
