"""Trains what a Snapscope training config says with PyTorch, transformers and torchvision, and writes the snapshot.

usage: train.py CONFIG.toml|.json -o OUT.pickle [--modules]

Prints one line of JSON: {"events", "peak_live_bytes", "peak_allocated_bytes", "peak_reserved_bytes", "oom"}.
"""

import argparse
import json
import os
from pathlib import Path

import job as jobs
import snapshots


def main() -> None:
    """Runs the command."""
    arguments = parse_arguments()
    job = jobs.read(arguments.config)
    # PyTorch reads it once, when it is imported.
    os.environ["PYTORCH_ALLOC_CONF"] = job.allocator
    if job.ddp is not None:
        # Processes compare what they have, and read it from the device.
        os.environ["SNAPSCOPE_VIRTUAL_GPU_VALUES"] = "shadow"
    result = record(job, arguments.output, arguments.modules)
    trace = snapshots.events(snapshots.load(arguments.output))
    figures = {"events": len(trace), "peak_live_bytes": snapshots.peak(trace).bytes}
    print(json.dumps(figures | result))


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Runs a training config with PyTorch and records its memory.")
    parser.add_argument("config", type=Path, help="training config, TOML or JSON")
    parser.add_argument("-o", "--output", type=Path, required=True, help="snapshot to write")
    parser.add_argument("--modules", action="store_true", help="write module paths into the events' user_metadata")
    return parser.parse_args()


def record(job: jobs.Job, output: Path, with_modules: bool) -> dict[str, object]:
    """Trains from the first allocation on under the recorder of memory history and writes the snapshot."""
    import torch

    import fsdp
    import models
    import modules
    import training

    subject = models.build(job)
    if with_modules:
        modules.tag(subject.model)
    training.set_number_formats(job)
    fsdp.join_group(job)
    # Observers stay only with devices that are there already.
    torch.cuda.init()
    if job.memory_fraction is not None:
        torch.cuda.set_per_process_memory_fraction(job.memory_fraction)
    # With stacks at frees PyTorch 2.11 loses the exception by which checkpointing ends a recomputation early.
    computes_again = job.checkpointing or job.saving.loss_chunks is not None
    torch.cuda.memory._record_memory_history(context="alloc" if computes_again else "all", stacks="python")
    # The snapshot of a run that is out of memory is that of the moment, before the exception frees anything.
    torch._C._cuda_attach_out_of_memory_observer(lambda *_: torch.cuda.memory._dump_snapshot(str(output)))
    oom = None
    try:
        # The name keeps what was trained alive, as scripts do, until the snapshot is taken.
        run = training.Training(job, subject)
        run.run()
        torch.cuda.memory._dump_snapshot(str(output))
    except torch.OutOfMemoryError as error:
        oom = str(error)
    return {
        "peak_allocated_bytes": torch.cuda.max_memory_allocated(),
        "peak_reserved_bytes": torch.cuda.max_memory_reserved(),
        "oom": oom,
    }


if __name__ == "__main__":
    main()
