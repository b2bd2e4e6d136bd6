"""Attention: which of the four ways PyTorch takes on which card, and that each runs."""

import itertools
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.varlen import varlen_attn

from operation import check, expect, group, peak_of, size_of

MATH, FLASH, EFFICIENT, CUDNN = (
    SDPBackend.MATH,
    SDPBackend.FLASH_ATTENTION,
    SDPBackend.EFFICIENT_ATTENTION,
    SDPBackend.CUDNN_ATTENTION,
)

HALVES = {"fp16": torch.float16, "bf16": torch.bfloat16}

# What PyTorch 2.11 takes by compute capability: half precision, the same with a mask, with heads of 256.
OLD = {"fp16": (EFFICIENT, EFFICIENT, EFFICIENT), "bf16": (MATH, MATH, MATH)}
AMPERE = {"fp16": (FLASH, EFFICIENT, FLASH), "bf16": (FLASH, EFFICIENT, FLASH)}
HOPPER = {"fp16": (CUDNN, CUDNN, CUDNN), "bf16": (CUDNN, CUDNN, CUDNN)}
BLACKWELL = {"fp16": (CUDNN, CUDNN, FLASH), "bf16": (CUDNN, CUDNN, FLASH)}
CHOICES = {
    "v100-32gb": OLD,
    "t4-16gb": OLD,
    "a100-80gb": AMPERE,
    "l4-24gb": AMPERE,
    "h100-80gb": HOPPER,
    "b200-180gb": BLACKWELL,
}


def qkv(dtype: torch.dtype, head_size: int = 64, length: int = 256) -> list[torch.Tensor]:
    """Query, key and value."""
    return [torch.zeros(2, 8, length, head_size, device="cuda", dtype=dtype, requires_grad=True) for _ in range(3)]


def mask_for(query: torch.Tensor) -> torch.Tensor:
    """A mask that adds to the scores."""
    return torch.zeros(2, 1, query.shape[2], query.shape[2], device="cuda", dtype=query.dtype)


def attend(expected: SDPBackend | None, tensors: list[torch.Tensor], **options: object) -> None:
    """Attention forward and backward, by the way that is expected."""
    if expected is not None:
        chosen = SDPBackend(torch._fused_sdp_choice(*tensors, **options))
        expect(chosen.name, expected.name, "backend")
    output = F.scaled_dot_product_attention(*tensors, **options)
    expect(output.shape, tensors[0].shape, "shape")
    gradients = torch.autograd.grad(output.sum(), tensors)
    expect([gradient.shape for gradient in gradients], [tensor.shape for tensor in tensors], "shapes")


def try_choices(card: str) -> None:
    """The row of the table for this card."""
    for precision, (plain, masked, wide) in CHOICES[card].items():
        dtype = HALVES[precision]
        with check(f"{precision}"):
            attend(plain, qkv(dtype))
        with check(f"{precision}, causal"):
            attend(plain, qkv(dtype), is_causal=True)
        with check(f"{precision}, dropout"):
            attend(plain, qkv(dtype), dropout_p=0.1, is_causal=True)
        with check(f"{precision}, mask"):
            tensors = qkv(dtype)
            attend(masked, tensors, attn_mask=mask_for(tensors[0]))
        with check(f"{precision}, heads of 256"):
            attend(wide, qkv(dtype, head_size=256))
        with check(f"{precision}, grouped queries"):
            query, key, value = qkv(dtype)
            attend(None, [query, key[:, :2], value[:, :2]], enable_gqa=True)
        with check(f"{precision}, heads of 40"):
            attend(None, qkv(dtype, head_size=40))
    with check("fp32"):
        attend(EFFICIENT, qkv(torch.float32))
    with check("fp32, mask"):
        tensors = qkv(torch.float32)
        attend(EFFICIENT, tensors, attn_mask=mask_for(tensors[0]))
    with check("fp64"):
        attend(MATH, qkv(torch.float64))


def choices_of(card: str) -> Callable[[], None]:
    """The group for a card."""
    return lambda: try_choices(card)


for each in CHOICES:
    group(cards=each, name=f"attention, {each}")(choices_of(each))


def try_every_way() -> None:
    """Each way that this card has, asked for by name."""
    major = torch.cuda.get_device_capability()[0]
    ways = [MATH, EFFICIENT] + ([FLASH] if major >= 8 else []) + ([CUDNN] if major >= 8 else [])
    for way, (precision, dtype), options in itertools.product(
        ways, HALVES.items(), ({}, {"is_causal": True}, {"dropout_p": 0.1})
    ):
        with check(f"{way.name.lower()}, {precision}, {', '.join(options) or 'plain'}"), sdpa_kernel(way):
            if way is EFFICIENT and precision == "bf16" and major < 8:
                continue
            attend(way, qkv(dtype), **options)
    with check("kept until the backward pass"):
        for way in ways[1:]:
            tensors = qkv(torch.float16, length=1024)
            with sdpa_kernel(way):
                before = torch.cuda.memory_allocated()
                output = F.scaled_dot_product_attention(*tensors)
                kept = torch.cuda.memory_allocated() - before
            # The output, and a float for each query: the logarithm of its sum. Seeds take a few bytes more.
            sums = 2 * 8 * 1024 * 4
            expect(0 <= kept - size_of(output) - sums <= 4096, True, f"{way.name}: {kept} bytes")
            del output
    with check("peak of the plain formula"):
        query = qkv(torch.float32, length=512)
        with sdpa_kernel(MATH), torch.no_grad():
            scores = 2 * 8 * 512 * 512 * 4
            expect(peak_of(lambda: F.scaled_dot_product_attention(*query)) >= 2 * scores, True, "scores and their softmax")


for each in "t4-16gb", "a100-80gb", "h100-80gb", "b200-180gb":
    group(cards=each, name=f"attention by name, {each}")(try_every_way)


@group(cards="h100-80gb", name="attention layers")
def attention_layers() -> None:
    for precision, dtype in HALVES.items() | {"fp32": torch.float32}.items():
        with check(f"multi-head attention, {precision}"):
            layer = nn.MultiheadAttention(128, 8, batch_first=True).to("cuda", dtype)
            sequence = torch.zeros(4, 64, 128, device="cuda", dtype=dtype, requires_grad=True)
            layer(sequence, sequence, sequence, need_weights=False)[0].sum().backward()
        with check(f"encoder layer, {precision}"):
            layer = nn.TransformerEncoderLayer(128, 8, batch_first=True).to("cuda", dtype)
            layer(torch.zeros(4, 64, 128, device="cuda", dtype=dtype)).sum().backward()
    with check("encoder layer, evaluation"):
        layer = nn.TransformerEncoderLayer(128, 8, batch_first=True).cuda().eval()
        with torch.no_grad():
            layer(torch.zeros(4, 64, 128, device="cuda"))
    with check("sequences of different lengths in one tensor"):
        ends = torch.tensor([0, 10, 30, 64], device="cuda", dtype=torch.int32)
        tensors = [torch.zeros(64, 8, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3)]
        output = varlen_attn(*tensors, ends, ends, 34, 34)
        output.sum().backward()
