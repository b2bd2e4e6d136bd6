"""Compares what libraries ask for on the virtual GPU with what they asked for on a real one: workspaces.py FOLDER

FOLDER has `convs.jsonl.gz` and `ops.jsonl.gz`, in which a line is an operation and what PyTorch's allocator did on the
GPU that the first line names. Each operation runs again here; the table has, by kind, how many asked for the same sizes
in the same order, and the largest difference of those that did not. Frees are not compared, because their order is that
of the program.
"""

import gzip
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

DEVICE = "cuda"
BACK_ENDS = [SDPBackend.MATH, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION]

# Operations of the tables by name, on a tensor.
TRANSFORMS = ["fft", "fft2", "fftn", "rfft", "irfft"]
SORTS: dict[str, Callable] = {
    "argsort": torch.argsort,
    "cummax": lambda x: x.cummax(0),
    "cumsum": lambda x: x.cumsum(0),
    "max": torch.max,
    "median": torch.median,
    "randperm": lambda x: torch.randperm(len(x), device=DEVICE),
    "sort": torch.sort,
    "sort stable descending": lambda x: x.sort(stable=True, descending=True),
    "std": lambda x: x.float().std(),
    "sum": torch.sum,
    "topk": lambda x: x.topk(100),
}
ALGEBRA: dict[str, Callable] = {
    "cholesky": torch.linalg.cholesky,
    "cholesky_inverse": lambda a: torch.cholesky_inverse(torch.linalg.cholesky(a)),
    "det": torch.linalg.det,
    "eig": torch.linalg.eig,
    "eigh": torch.linalg.eigh,
    "inv": torch.linalg.inv,
    "lstsq": lambda a: torch.linalg.lstsq(a, a),
    "lu": torch.linalg.lu,
    "qr": torch.linalg.qr,
    "solve": lambda a: torch.linalg.solve(a, a),
    "svd": torch.linalg.svd,
    "svdvals": torch.linalg.svdvals,
}


def rows(path: Path) -> list[dict]:
    """The operations of a file, without its first line, which names the machine."""
    with gzip.open(path, "rt") as lines:
        return [json.loads(line) for line in lines][1:]


def events(run: Callable) -> list[str]:
    """The allocator's events while a function runs: `+bytes` and `-bytes`."""
    torch.cuda.memory._record_memory_history(stacks="python")
    try:
        kept = run()
    finally:
        traces = torch.cuda.memory._snapshot()["device_traces"]
        torch.cuda.memory._record_memory_history(enabled=None)
    del kept
    signs = {"alloc": "+", "free_requested": "-"}
    return [f"{signs[event['action']]}{event['size']}" for trace in traces for event in trace if event["action"] in signs]


def asked(found: list[str]) -> list[int]:
    """The sizes that were allocated."""
    return [int(event) for event in found if event.startswith("+")]


def brief(found: list[str]) -> list[int]:
    """The sizes that were freed at once: workspaces."""
    return [int(size) for size, after in zip(found, found[1:], strict=False) if size[0] == "+" and after == "-" + size[1:]]


def convolution(row: dict) -> Iterator[tuple[str, list[int], list[int]]]:
    """Kind and workspaces, real and virtual, of a convolution's three directions."""
    names = ["stride", "padding", "dilation", "groups"] + ["output_padding"] * ("Transpose" in row["op"])
    dtype = getattr(torch, row["dtype"])
    made = getattr(nn, row["op"])(row["cin"], row["cout"], row["kernel"], bias=False, **{name: row[name] for name in names})
    layout = {3: torch.channels_last, 4: torch.channels_last_3d}.get(len(row["size"]) + 1) if row["channels_last"] else None
    layout = layout or torch.contiguous_format
    made = made.to(DEVICE, dtype, memory_format=layout)
    images = torch.randn(row["batch"], row["cin"], *row["size"], device=DEVICE, dtype=dtype).to(memory_format=layout)
    images.requires_grad_(True)
    results = []
    forward = events(lambda: results.append(made(images)))
    gradient = torch.randn_like(results[0])
    backward = events(lambda: results[0].backward(gradient))
    weight = f"+{made.weight.numel() * made.weight.element_size()}"

    def halves(found: list[str]) -> tuple[list[str], list[str]]:
        """Splits the backward pass before the gradient of the filter."""
        at = found.index(weight) if weight in found else len(found)
        return found[:at], found[at:]

    real, virtual = halves(row["backward"]), halves(backward)
    for direction, (there, here) in {
        "forward": (row["forward"], forward),
        "backward, data": (real[0], virtual[0]),
        "backward, filter": (real[1], virtual[1]),
    }.items():
        yield f"convolution, {direction}", brief(there), brief(here)


def recurrent(row: dict) -> Callable:
    """A network, forward and, if it trains, backward; its first run makes what later ones keep."""
    options = {"bidirectional": row["bidirectional"], "dropout": row["dropout"], "proj_size": row["proj"]}
    dtype = getattr(torch, row["dtype"])
    options = {name: value for name, value in options.items() if value}
    made = getattr(nn, row["kind"])(row["hidden"], row["hidden"], row["layers"], **options).to(DEVICE, dtype)
    made.train(row["train"])
    sequences = torch.randn(row["steps"], row["batch"], row["hidden"], device=DEVICE, dtype=dtype)

    def run() -> None:
        with torch.set_grad_enabled(row["train"]):
            output, _ = made(sequences)
        if row["train"]:
            output.sum().backward()

    made(sequences)
    return run


def attention(row: dict) -> Callable:
    """Attention by one back end or by any, forward and backward."""
    dtype = getattr(torch, row["dtype"])

    def tensor(heads: int, length: int) -> torch.Tensor:
        return torch.randn(row["batch"], heads, length, row["dim"], device=DEVICE, dtype=dtype, requires_grad=True)

    query = tensor(row["heads"], row["q"])
    key, value = tensor(row["kv_heads"], row["kv"]), tensor(row["kv_heads"], row["kv"])
    mask = torch.zeros(row["q"], row["kv"], device=DEVICE, dtype=dtype) if row["mask"] else None
    grouped = row["heads"] != row["kv_heads"]
    back_ends = [getattr(SDPBackend, row["backend"])] if row["backend"] else BACK_ENDS

    def forward() -> torch.Tensor:
        with sdpa_kernel(back_ends):
            return F.scaled_dot_product_attention(query, key, value, mask, is_causal=row["causal"], enable_gqa=grouped)

    gradient = torch.randn_like(forward())
    return lambda: torch.autograd.grad(forward(), [query, key, value], gradient)


def algebra(row: dict) -> Callable | None:
    """A function of `torch.linalg` on one matrix or a batch."""
    batch = [] if row["batch"] is None else [row["batch"]]
    matrices = torch.randn(*batch, row["n"], row["n"], device=DEVICE, dtype=getattr(torch, row["dtype"]))
    return row["op"] in ALGEBRA and (lambda: ALGEBRA[row["op"]](matrices))


def transform(row: dict) -> Callable | None:
    """A transform of real numbers."""
    numbers = torch.randn(row["shape"], device=DEVICE, dtype=getattr(torch, row["dtype"]))
    return row["op"] in TRANSFORMS and (lambda: getattr(torch.fft, row["op"])(numbers))


def sort(row: dict) -> Callable | None:
    """A sort, a scan or a reduction."""
    dtype = getattr(torch, row["dtype"])
    numbers = torch.arange(row["n"], device=DEVICE).to(dtype)
    return row["op"] in SORTS and (lambda: SORTS[row["op"]](numbers))


KINDS = {
    "rnn": ("recurrent network", recurrent),
    "sdpa": ("attention", attention),
    "linalg": ("linear algebra", algebra),
    "fft": ("Fourier transform", transform),
    "cub": ("sort, scan, reduction", sort),
}


def compared(folder: Path) -> Iterator[tuple[str, list[int], list[int]]]:
    """Kind and sizes, real and virtual, of each operation that can be made from its row."""
    for row in rows(folder / "convs.jsonl.gz"):
        yield from convolution(row)
    for row in rows(folder / "ops.jsonl.gz"):
        kind, make = KINDS[row["case"]]
        if "events" in row and (run := make(row)):
            yield kind, asked(row["events"]), asked(events(run))


def main() -> None:
    """Prints the table."""
    warnings.filterwarnings("ignore")
    # The first product makes the workspace of cuBLAS, which PyTorch keeps.
    torch.ones(2, 2, device=DEVICE).mm(torch.ones(2, 2, device=DEVICE))
    table: dict[str, list[int]] = {}
    for kind, real, virtual in compared(Path(sys.argv[1])):
        row = table.setdefault(kind, [0, 0, 0])
        row[0] += 1
        row[1] += real == virtual
        row[2] = max(row[2], abs(sum(real) - sum(virtual)))
    print("| kind | compared | equal to the byte | | largest difference, bytes |\n| --- | --- | --- | --- | --- |")
    for kind, (count, equal, difference) in table.items():
        print(f"| {kind} | {count:,} | {equal:,} | {equal / count:.0%} | {difference:,} |")


if __name__ == "__main__":
    main()
