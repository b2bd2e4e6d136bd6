"""Runs the scripts of tests/scripts by `snapscope run` with each given Python, and prints a table.

Each Python is one with stock wheels, such as .venv/bin/python after `pip install torch transformers accelerate peft
bitsandbytes`; a script whose packages are lacking is left out.
A script is unchanged on every version; what it must come to is listed here.
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "tests" / "scripts"

RANKS = ["-m", "torch.distributed.run", "--nproc-per-node", "2"]
ACCELERATE = ["-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--mixed_precision", "bf16"]

# Options of the command, words before the script, and the expected status.
CASES = [
    ("gpt.py", ["--steps", "3"], [], "fits"),
    ("gpt.py", ["--card", "custom:4GiB"], [], "out-of-memory"),
    ("values.py", [], [], "fits"),
    ("modules.py", [], [], "fits"),
    ("routing.py", [], [], "fits"),
    ("counts.py", [], [], "fits"),
    ("ranks.py", ["--card", "2x t4-16gb"], RANKS, "fits"),
    ("sharded.py", ["--card", "2x a100-40gb"], RANKS, "fits"),
    ("compiled.py", [], [], "fits"),
    ("trainer.py", [], [], "fits"),
    ("generate.py", [], [], "fits"),
    ("accelerated.py", [], [], "fits"),
    ("accelerated.py", ["--card", "2x a100-40gb"], ACCELERATE, "fits"),
    ("lora.py", [], [], "fits"),
    ("eight_bits.py", [], [], "fits"),
    ("graphs.py", [], [], "fits"),
    ("sft.py", [], [], "fits"),
    ("dpo.py", [], [], "fits"),
    ("grpo.py", [], [], "fits"),
    ("unet.py", [], [], "fits"),
    ("ranks.py", ["--card", "t4-16gb", "--world", "64", "--ranks", "63"], RANKS, "fits"),
    ("llama_8b.py", ["--card", "h100-80gb", "--world", "8", "--ranks", "7", "--weights", "empty"], [], "fits"),
    ("qlora_7b.py", ["--card", "rtx4090-24gb", "--weights", "empty"], [], "fits"),
    ("accelerated.py", ["--card", "a100-40gb", "--world", "2", "--ranks", "1"], ACCELERATE, "fits"),
    ("zero.py", ["--card", "a100-40gb", "--world", "2", "--ranks", "1"], RANKS, "fits"),
    ("megatron_core.py", ["--card", "a100-40gb", "--world", "2", "--ranks", "1"], RANKS, "fits"),
    ("lightning_fit.py", [], [], "fits"),
    ("timm_vit.py", [], [], "fits"),
    ("tune.py", [], [], "fits"),
]
NEEDS = {
    "trainer.py": ["transformers", "accelerate"],
    "generate.py": ["transformers"],
    "accelerated.py": ["accelerate"],
    "lora.py": ["transformers", "accelerate", "peft", "bitsandbytes"],
    "eight_bits.py": ["bitsandbytes"],
    "sft.py": ["trl", "transformers", "accelerate"],
    "dpo.py": ["trl", "transformers", "accelerate"],
    "grpo.py": ["trl", "transformers", "accelerate"],
    "unet.py": ["diffusers"],
    "llama_8b.py": ["transformers"],
    "qlora_7b.py": ["transformers", "accelerate", "peft", "bitsandbytes"],
    "zero.py": ["deepspeed"],
    "megatron_core.py": ["megatron.core"],
    "lightning_fit.py": ["lightning"],
    "timm_vit.py": ["timm"],
    "tune.py": ["torchtune", "torchao"],
}
# A first compilation measures kernels, and a later one takes them from its cache; Python collects cycles at its own times.
VARYING = ("compiled.py", "grpo.py")
HEADS = ["torch", "with", "script", "options", "verdict", "peak reserved", "events", "seconds", "values", "same again"]


def run(snapscope, python, case):
    """Returns the first entry of the document with the script's output, and the events with their stacks."""
    script, options, before, _ = case
    with tempfile.TemporaryDirectory() as folder:
        command = [snapscope, "run", "--json", "--time", "10min", "-o", Path(folder) / "out.pickle", *options, "--"]
        command += [python, *before, SCRIPTS / script]
        # Libraries go through sets of names, whose order is another one in each process.
        same = {**os.environ, "PYTHONHASHSEED": "0"}
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, env=same)
        if not done.stdout.startswith("{"):
            sys.exit(done.stderr)
        found = json.loads(done.stdout)["runs"][0]
        found["log"] = done.stderr
        return found, events(found["snapshot"]) if found["snapshot"] else []


def events(path):
    """Returns action and size of each event; frees without an allocation between them are sorted.

    Autocast frees its casts in the order of host addresses, which differs from run to run, as on a real GPU.
    """
    with open(path, "rb") as file:
        traces = pickle.load(file)["device_traces"]
    listed, frees = [], []
    for entry in (entry for trace in traces for entry in trace):
        if entry["action"].startswith("free"):
            frees.append((entry["action"], entry["size"]))
        else:
            listed += [*sorted(frees), (entry["action"], entry["size"])]
            frees = []
    return [*listed, *sorted(frees)]


def row(snapscope, python, case):
    script, options, _, expected = case
    found, first = run(snapscope, python, case)
    _, second = run(snapscope, python, case)
    reads = sum(read["count"] for read in found["values_read"] if read["kind"] != "number")
    assumed = sum(read["count"] for read in found["values_read"] if read["kind"] != "number" and read["is_assumed"])
    is_same = first == second
    peak = f"{found['peak_reserved_bytes'] / 2**20:,.0f} MiB"
    values = f"{reads}, {assumed} assumed" if reads else "0"
    is_right = found["status"] == expected and (is_same or script in VARYING)
    if not is_right:
        print(found["log"][-3000:], file=sys.stderr)
    verdict = found["status"] if found["status"] == expected else f"{found['status']}, not {expected}"
    seconds = f"{found['seconds']:.1f}"
    packages = versions(python, NEEDS.get(script, []))
    cells = [found["torch"] or "?", packages, script, " ".join(options), verdict, peak, f"{found['events']:,}"]
    return [*cells, seconds, values, "yes" if is_same else "no"], is_right


@cache
def version(python, name):
    find = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    return subprocess.run([python, "-c", find, name], check=False, capture_output=True, text=True).stdout.strip()


def versions(python, names):
    return ", ".join(f"{name} {version(python, name)}" for name in names)


@cache
def has_package(python, name):
    find = "import importlib.util as u, sys; sys.exit(u.find_spec(sys.argv[1]) is None)"
    return subprocess.run([python, "-c", find, name], check=False).returncode == 0


def has(python, names):
    return all(has_package(python, name) for name in names)


def main():
    """`--only NAME` runs the scripts of this name."""
    snapscope, *pythons = sys.argv[1:]
    only = pythons[1] if pythons[:1] == ["--only"] else ""
    pythons = pythons[2:] if only else pythons
    all_right = True
    print(f"| {' | '.join(HEADS)} |\n|{' --- |' * len(HEADS)}")
    for python in pythons:
        for case in CASES:
            if only not in case[0] or not has(python, NEEDS.get(case[0], [])):
                continue
            cells, is_right = row(snapscope, python, case)
            all_right &= is_right
            print(f"| {' | '.join(cells)} |", flush=True)
    sys.exit(not all_right)


main()
