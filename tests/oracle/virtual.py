"""Starting Python programs on the virtual GPU."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ROOT / "target" / "virtual-gpu"

TIMEOUT_S = 600

# Settings of the shell that would change what a run allocates.
CLEARED = ["PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING", "CUDA_VISIBLE_DEVICES"]


def environment(cards: str, **settings: str) -> dict[str, str]:
    """The environment of a program that finds virtual GPUs, such as `h100-80gb` or `4x h100-80gb`.

    The environment of Python has no cuDNN that the virtual GPU could ask, as the recorder has none.
    """
    kept = {name: value for name, value in os.environ.items() if name not in CLEARED}
    own = {"SNAPSCOPE_VIRTUAL_GPU": cards, "SNAPSCOPE_VIRTUAL_GPU_CUDNN_WORKSPACE": "0"}
    return kept | {"LD_LIBRARY_PATH": str(LIBRARIES)} | own | settings


def python(script: str, *arguments: str, cards: str) -> subprocess.CompletedProcess[str]:
    """Runs a script of this folder on virtual GPUs and returns what it wrote."""
    command = [sys.executable, str(Path(__file__).parent / script), *arguments]
    return subprocess.run(
        command, env=environment(cards), capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
