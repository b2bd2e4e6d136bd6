"""Layers that go through cuDNN, but for attention: convolutions, norms, recurrent networks and others."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import nn

from operation import MIB, check, expect, group, peak_of, rounded, size_of

FLOATS = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def convolutions() -> Iterator[tuple[str, nn.Module, torch.Tensor]]:
    """Every kind of convolution with an input, on the host."""
    shapes = {1: (4, 16, 200), 2: (4, 16, 28, 28), 3: (2, 16, 8, 12, 12)}
    for axes, shape in shapes.items():
        layer = [nn.Conv1d, nn.Conv2d, nn.Conv3d][axes - 1]
        transposed = [nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d][axes - 1]
        image = torch.zeros(shape)
        yield f"conv{axes}d", layer(16, 32, 3, padding=1), image
        yield f"conv{axes}d, stride 2, no bias", layer(16, 32, 3, stride=2, bias=False), image
        yield f"conv{axes}d, dilated", layer(16, 32, 3, dilation=2), image
        yield f"conv{axes}d, grouped", layer(16, 32, 3, groups=4), image
        yield f"conv{axes}d, depthwise", layer(16, 16, 3, groups=16), image
        yield f"conv{axes}d, transposed", transposed(16, 32, 3, stride=2), image


def train(layer: nn.Module, image: torch.Tensor) -> None:
    """A forward and a backward pass, with the gradient of the input."""
    image.requires_grad_()
    output = layer(image)
    output.sum().backward()
    expect(image.grad.shape, image.shape, "shape of the gradient")
    for parameter in layer.parameters():
        expect(parameter.grad.shape, parameter.shape, "shape of a gradient")


def try_convolutions(**formats: torch.memory_format) -> None:
    """Trains every kind of convolution in every type, in the formats that it can have."""
    for precision, dtype in FLOATS.items():
        for name, layer, image in convolutions():
            for label, memory_format in formats.items():
                if memory_format is torch.channels_last and image.ndim != 4:
                    continue
                with check(f"{name}, {precision}, {label}"):
                    placed = layer.to("cuda", dtype, memory_format=memory_format)
                    train(placed, image.to("cuda", dtype, memory_format=memory_format))


@group()
def convolution() -> None:
    try_convolutions(NCHW=torch.contiguous_format, NHWC=torch.channels_last)


@group(name="convolution, benchmark")
def convolution_benchmark() -> None:
    torch.backends.cudnn.benchmark = True
    try_convolutions(NCHW=torch.contiguous_format)


@group(name="convolution, deterministic, T4", cards="t4-16gb")
def convolution_deterministic() -> None:
    torch.backends.cudnn.deterministic = True
    try_convolutions(NCHW=torch.contiguous_format)


@group(name="convolution, older interface", TORCH_CUDNN_V8_API_DISABLED="1")
def convolution_older_interface() -> None:
    try_convolutions(NCHW=torch.contiguous_format)


def try_peaks(work_space_bytes: int, *precisions: str) -> None:
    """A convolution takes its output, and its work space while it runs."""
    for precision in precisions or FLOATS:
        dtype = FLOATS[precision]
        with check(f"conv2d, {precision}: output and work space"):
            layer = nn.Conv2d(64, 128, 3, padding=1, bias=False).to("cuda", dtype)
            image = torch.zeros(8, 64, 56, 56, device="cuda", dtype=dtype)
            output_bytes = rounded(8 * 128 * 56 * 56 * dtype.itemsize)
            with torch.no_grad():
                expect(peak_of(lambda: layer(image)), output_bytes + work_space_bytes)
        with check(f"conv2d, {precision}: gradients and work space"):
            output = layer(image.requires_grad_())
            gradient = torch.zeros_like(output)
            gradients = size_of(image, layer.weight)
            peak = peak_of(lambda: torch.autograd.grad(output, (image, layer.weight), gradient))
            # The gradient of the input is there when that of the weight is computed; either may come first.
            first = min(size_of(image), size_of(layer.weight))
            expected = gradients + work_space_bytes, max(first, gradients - first) + work_space_bytes
            expect(peak in expected, True, f"{peak} is one of {expected}")


@group(name="peak of a convolution")
def convolution_peak() -> None:
    try_peaks(0)


@group(name="peak of a convolution, 32 MiB of work space", SNAPSCOPE_VIRTUAL_GPU_CUDNN_WORKSPACE="32MiB")
def convolution_peak_with_work_space() -> None:
    try_peaks(32 * MIB)


@group(
    name="peak of a convolution, older interface, 32 MiB",
    SNAPSCOPE_VIRTUAL_GPU_CUDNN_WORKSPACE="32MiB",
    TORCH_CUDNN_V8_API_DISABLED="1",
)
def convolution_peak_older_interface() -> None:
    # In bf16 PyTorch does not take this interface.
    try_peaks(32 * MIB, "fp32", "fp16")


@group()
def norms() -> None:
    for precision, dtype in FLOATS.items():
        for label, memory_format in {"NCHW": torch.contiguous_format, "NHWC": torch.channels_last}.items():
            image = torch.zeros(8, 32, 28, 28, device="cuda", dtype=dtype).to(memory_format=memory_format)
            with check(f"batch norm, {precision}, {label}"):
                train(nn.BatchNorm2d(32).to("cuda", dtype), image)
            with check(f"batch norm of autocast, {precision}, {label}"):
                layer = nn.BatchNorm2d(32).cuda()
                train(layer, image.detach())
                output = layer(image)
                statistics = 2 * rounded(32 * 4)
                # Of bf16 PyTorch's own kernel takes a little more for itself.
                if dtype is not torch.bfloat16:
                    # Of channels-last in half precision, cuDNN sums up groups of 160 pixels.
                    groups = -(-image.numel() // 32 // 160)
                    work_space = rounded(1076 + 516 * groups) if (precision, label) == ("fp16", "NHWC") else 0
                    expect(peak_of(lambda: layer(image)), size_of(output) + statistics + work_space)
            with check(f"batch norm, evaluation, {precision}, {label}"):
                layer = nn.BatchNorm2d(32).to("cuda", dtype).eval()
                expect(layer(image).shape, image.shape, "shape")
    with check("batch norm, 1d and 3d"):
        train(nn.BatchNorm1d(16).cuda(), torch.zeros(8, 16, 20, device="cuda"))
        train(nn.BatchNorm3d(16).cuda(), torch.zeros(2, 16, 4, 8, 8, device="cuda"))
    with check("group, layer, instance and RMS norm"):
        for layer in nn.GroupNorm(4, 16), nn.LayerNorm(28), nn.InstanceNorm2d(16, affine=True), nn.RMSNorm(28):
            train(layer.cuda(), torch.zeros(4, 16, 28, 28, device="cuda"))
    with check("local response norm"):
        train(nn.LocalResponseNorm(2), torch.zeros(4, 16, 28, 28, device="cuda"))


@group()
def recurrent() -> None:
    options = [{}, {"bidirectional": True}, {"dropout": 0.5}, {"bias": False}, {"batch_first": True}]
    for network in nn.LSTM, nn.GRU, nn.RNN:
        for precision, dtype in FLOATS.items():
            for option in options + ([{"proj_size": 24}] if network is nn.LSTM else []):
                label = ", ".join(option) or "plain"
                with check(f"{network.__name__}, {precision}, {label}"):
                    layers = network(20, 48, num_layers=2, **option).to("cuda", dtype)
                    train(layers_of(layers), torch.zeros(12, 6, 20, device="cuda", dtype=dtype))
        with check(f"{network.__name__}, packed sequences"):
            layers = network(20, 48).cuda()
            lengths = torch.tensor([9, 7, 7, 2])
            packed = nn.utils.rnn.pack_padded_sequence(torch.zeros(9, 4, 20, device="cuda"), lengths)
            layers(packed)[0].data.sum().backward()
        with check(f"{network.__name__}, weights in one buffer"):
            layers = network(20, 48, num_layers=2, bidirectional=True).cuda()
            buffers = {weight.untyped_storage().data_ptr() for weight in layers.parameters()}
            expect(len(buffers), 1, "buffers")
            elements = sum(weight.numel() for weight in layers.parameters())
            expect(layers.weight_ih_l0.untyped_storage().nbytes(), 4 * elements)
        with check(f"{network.__name__}, evaluation"):
            with torch.no_grad():
                network(20, 48).cuda().eval()(torch.zeros(12, 6, 20, device="cuda"))


def layers_of(network: nn.RNNBase) -> nn.Module:
    """The network, as a layer with one output."""

    class Output(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, sequence: torch.Tensor) -> torch.Tensor:
            return self.network(sequence)[0]

    return Output()


@group()
def other_layers() -> None:
    image = torch.zeros(4, 16, 28, 28, device="cuda")
    layers = {
        "max pooling": nn.MaxPool2d(2),
        "average pooling": nn.AvgPool2d(2),
        "adaptive pooling": nn.AdaptiveAvgPool2d(1),
        "bilinear upsampling": nn.Upsample(scale_factor=2, mode="bilinear"),
        "nearest upsampling": nn.Upsample(scale_factor=2),
        "dropout": nn.Dropout2d(),
        "pixel shuffle": nn.PixelShuffle(4),
    }
    for name, layer in layers.items():
        with check(name):
            train(layer, image.clone())
    with check("quantized max pooling"):
        quantized = torch.quantize_per_tensor(image.cpu(), 0.1, 0, torch.qint8).cuda()
        expect(F.max_pool2d(quantized, 2).shape, (4, 16, 14, 14), "shape")
    with check("grid sampling"):
        theta = torch.zeros(4, 2, 3, device="cuda", requires_grad=True)
        grid = F.affine_grid(theta, [4, 16, 28, 28], align_corners=True)
        F.grid_sample(image, grid, align_corners=True).sum().backward()
        expect(theta.grad.shape, (4, 2, 3), "shape")
    for device in "cpu", "cuda":
        with check(f"CTC loss, cuDNN, targets on {device}"):
            scores = torch.zeros(50, 4, 20, device="cuda", requires_grad=True)
            targets = torch.randint(1, 20, (40,), dtype=torch.int32, device=device)
            on_device = [torch.full((4,), length, dtype=torch.int32, device=device) for length in (50, 10)]
            lengths = on_device if device == "cuda" else ([50] * 4, [10] * 4)
            F.ctc_loss(scores.log_softmax(2), targets, *lengths).backward()
    with check("CTC loss, PyTorch's own"):
        scores = torch.zeros(50, 4, 20, device="cuda", requires_grad=True)
        targets = torch.randint(1, 20, (4, 10), device="cuda")
        lengths = torch.full((4,), 50, device="cuda"), torch.full((4,), 10, device="cuda")
        F.ctc_loss(scores.log_softmax(2), targets, *lengths).backward()
    with check("convolution with bias and rectifier in one"):
        weight, bias = torch.zeros(32, 16, 3, 3, device="cuda"), torch.zeros(32, device="cuda")
        output = torch.cudnn_convolution_relu(image, weight, bias, (1, 1), (1, 1), (1, 1), 1)
        torch.cudnn_convolution_add_relu(image, weight, output, 1.0, bias, (1, 1), (1, 1), (1, 1), 1)
