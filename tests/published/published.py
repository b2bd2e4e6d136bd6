"""Runs programs whose peaks on real GPUs were published by `snapscope run`, and prints published figures beside ours.

Each PYTHON runs the rows of its version of PyTorch and with its packages; rows that none can run are named at the end.
"""

import os
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

PROGRAM = Path(__file__).with_name("rows.py")
UNITS = {"B": 1, "MiB": 2**20, "MB": 10**6, "GiB": 2**30, "GB": 10**9}
# Percent by which figures of this kind may differ.
LIMITS = {"reserved": 3.0}
LIMIT = 1.0

FAKEGPU = "FanBB2333/FakeGPU@7d5cf83 docs/llm-sft-memory-estimation.md"
FAKEGPU_DECODE = "FanBB2333/FakeGPU@7d5cf83 docs/llm-inference-estimation.md"
LIGER = "linkedin/Liger-Kernel@ead96b6 benchmark/data/all_benchmark_data.csv"
BALANCE = "huggingface/transformers#48131"
BLACKWELL, AMPERE, HOPPER = "custom:72GiB:12.0", "a100-80gb", "h100-80gb"
EXPANDABLE = "max_split_size_mb:128,expandable_segments:True"

# Source, card, program, published figure, version of PyTorch (any if empty), packages with versions.
ROWS = [
    (FAKEGPU, BLACKWELL, "sft 0.8b 16 twice", "allocated 6.626 GiB", "2.8", "transformers"),
    (FAKEGPU, BLACKWELL, "sft 0.8b 128", "allocated 6.687 GiB", "2.8", "transformers"),
    (FAKEGPU, BLACKWELL, "sft 0.8b 128 checkpoint", "allocated 6.679 GiB", "2.8", "transformers"),
    (FAKEGPU, BLACKWELL, "sft 0.8b 16 lora", "allocated 1.756 GiB", "2.8", "transformers peft"),
    (FAKEGPU, BLACKWELL, "sft 0.8b 128 lora", "allocated 2.696 GiB", "2.8", "transformers peft"),
    (FAKEGPU, BLACKWELL, "sft 0.8b 128 lora checkpoint", "allocated 1.876 GiB", "2.8", "transformers peft"),
    (FAKEGPU, BLACKWELL, "sft 2b 16 twice", "allocated 15.939 GiB", "2.8", "transformers"),
    (FAKEGPU, BLACKWELL, "sft 2b 16 lora", "allocated 3.868 GiB", "2.8", "transformers peft"),
    (FAKEGPU, BLACKWELL, "sft 2b 128 lora", "allocated 4.959 GiB", "2.8", "transformers peft"),
    (FAKEGPU, BLACKWELL, "sft 2b 128 lora checkpoint", "allocated 3.974 GiB", "2.8", "transformers peft"),
    (FAKEGPU_DECODE, BLACKWELL, "decode", "allocated 16396630528 B", "2.8", "transformers"),
    (LIGER, AMPERE, "linear_cross_entropy 4096", "allocated 6092.2822265625 MiB", "", ""),
    (LIGER, AMPERE, "linear_cross_entropy 32768", "allocated 27582.5 MiB", "", ""),
    (LIGER, AMPERE, "geglu 1024", "allocated 1992.25 MiB", "", "transformers"),
    (LIGER, AMPERE, "geglu 8192", "allocated 12212.25 MiB", "", "transformers"),
    (LIGER, HOPPER, "experts 4096", "allocated 6105.1943359375 MiB", "", ""),
    (LIGER, HOPPER, "experts 512", "allocated 5528.3955078125 MiB", "", ""),
    (BALANCE, HOPPER, "balance 8192", "allocated 5.3 GB", "", "transformers<5.13"),
    (BALANCE, HOPPER, "balance 65536", "allocated 40.7 GB", "", "transformers<5.13"),
    (BALANCE, HOPPER, "balance 32768", "allocated 0.06 GB", "", "transformers>5.13"),
    (BALANCE, HOPPER, "balance 131072", "allocated 0.25 GB", "", "transformers>5.13"),
    ("pytorch/pytorch#193400", "custom:16GiB", "cycles", "reserved-20 2980 MiB", "", ""),
    ("pytorch/pytorch#193400", "custom:16GiB", "cycles", "reserved-100 14060 MiB", "", ""),
    ("wtdcode/vllm-backport#67", HOPPER, "pinned 1.125", "pinned 2 GiB", "2.11", ""),
    ("pytorch/pytorch#95024", AMPERE, "convolution half 64 32 361 370 251", "allocated 12.874233344 GB", "2.11", ""),
    ("pytorch/pytorch#95024", AMPERE, "convolution half 64 32 362 370 251", "asked 108.21 GiB", "2.6", ""),
    ("pytorch/pytorch#132300", HOPPER, "convolution bfloat16 3 128 24 740 1316", "allocated 9.26 GiB", "2.6", ""),
]


@cache
def version(python, name):
    find = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    return subprocess.run([python, "-c", find, name], check=False, capture_output=True, text=True).stdout.strip()


def numbers(text):
    return tuple(map(int, re.findall(r"\d+", text)[:2]))


def can_run(python, torch, packages):
    """Returns true if a Python has the version of PyTorch and the packages that a row asks for."""
    if torch and numbers(version(python, "torch")) != numbers(torch):
        return False
    for package in packages.split():
        name, sign, limit = re.fullmatch(r"([\w-]+)([<>]?)(.*)", package).groups()
        found = version(python, name)
        is_late = bool(sign) and numbers(found) >= numbers(limit)
        if not found or sign == "<" and is_late or sign == ">" and not is_late:
            return False
    return True


@cache
def figures(snapscope, python, card, program):
    """Runs a program; returns its figures by name, and its last lines where it printed none."""
    with tempfile.TemporaryDirectory() as folder:
        command = [snapscope, "run", "--card", card, "--weights", "empty", "-o", Path(folder) / "out.pickle", "--"]
        alike = {name: EXPANDABLE for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF") if program == "cycles"}
        command += [python, PROGRAM, *program.split()]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **alike})
    found = dict(re.findall(r"^figure (\S+) (\d+)$", done.stdout, re.MULTILINE))
    if not found:
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
    return found


def row(snapscope, python, source, card, program, published):
    """Returns the cells of a row, and whether the figures agree."""
    name, number, unit = published.split()
    size = float(number) * UNITS[unit]
    # Where few digits are printed, what rounds to them is the same.
    digits = 0.5 * UNITS[unit] / 10 ** len(number.partition(".")[2])
    ours = int(figures(snapscope, python, card, program).get(name, 0))
    if not ours:
        return [source, version(python, "torch"), f"`{program}`", card, published, "failed", ""], False
    off = ours - size
    percent = 0.0 if abs(off) <= digits else 100 * off / size
    is_near = abs(percent) <= LIMITS.get(name.partition("-")[0], LIMIT)
    shown = f"{ours / UNITS[unit]:,.{len(number.partition('.')[2])}f} {unit}"
    difference = "equal" if not percent else f"{percent:+.3f} %"
    difference += "" if is_near else ", **off**"
    return [source, version(python, "torch"), f"`{program}`", card, published, shown, difference], is_near


def main():
    snapscope, *pythons = sys.argv[1:]
    heads = ["source", "torch", "program of rows.py", "card", "published", "here", "difference"]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    left, is_right = [], True
    for source, card, program, published, torch, packages in ROWS:
        python = next((python for python in pythons if can_run(python, torch, packages)), None)
        if python is None:
            left.append(f"{program} needs {' and '.join(filter(None, [torch and f'torch {torch}', packages]))}")
            continue
        cells, is_near = row(snapscope, python, source, card, program, published)
        is_right &= is_near
        print(f"| {' | '.join(cells)} |", flush=True)
    print("\n".join(["", *(f"not run: {line}" for line in left)]))
    sys.exit(not is_right)


main()
