"""What this process is: its command, its rank, its place in the run."""

from __future__ import annotations

import os
import re
import socket
import sys
import time
from typing import Any

from .commit import commit_of
from .options import Options

# Variables of launchers: torchrun and Accelerate, Slurm, Open MPI.
_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")
_LOCAL_RANKS = ("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK")
_WORLDS = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE")

# Beginnings of the names of settings that change what PyTorch reserves.
_SETTINGS = ("PYTORCH_", "CUDA_VISIBLE_DEVICES", "CUDA_MODULE_LOADING", "CUBLAS_WORKSPACE_CONFIG", "NCCL_", "TORCH_NCCL_")

# Words in the names of options whose value is a secret, and beginnings of what is one by itself.
_SECRETS = {"token", "secret", "password", "passwd", "pwd", "apikey", "key", "credential", "credentials"}
_KEYS = ("hf_", "sk-", "ghp_", "gho_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA")


def rank() -> int | None:
    """Returns the rank of this process if it is one of several."""
    return _number(_RANKS) if (world() or 1) > 1 else None


def world() -> int | None:
    return _number(_WORLDS)


def run_name() -> str:
    """Returns the first part of the names of files: the job's, or else the script's with the time."""
    for variable in ("SNAPSCOPE_RUN", "TORCHELASTIC_RUN_ID", "SLURM_JOB_ID"):
        name = os.environ.get(variable, "").replace("/", "-")
        if name and name != "none":
            return name
    return f"{script_name()}-{time.strftime('%m%d-%H%M%S')}"


def script_name() -> str:
    main = sys.modules.get("__main__")
    path = getattr(main, "__file__", None) or (sys.argv[0] if sys.argv else "")
    return os.path.splitext(os.path.basename(path))[0] or "python"


def facts(options: Options) -> dict[str, Any]:
    """Returns what does not change during a run."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    folder = os.path.dirname(os.path.abspath(main)) if main else os.getcwd()
    settings = {name: value for name, value in sorted(os.environ.items()) if name.startswith(_SETTINGS)}
    found = {
        "rank": rank(),
        "local_rank": _number(_LOCAL_RANKS),
        "world": world(),
        "host": socket.gethostname() if options.host else None,
        "pid": os.getpid(),
        "command": _without_secrets(getattr(sys, "orig_argv", sys.argv)),
        "commit": commit_of(folder),
        "python": sys.version.split()[0],
        "settings": settings,
    }
    return {name: value for name, value in found.items() if value is not None}


def _without_secrets(words: list[str]) -> list[str]:
    """Returns the words of a command with `*` in place of secrets, because others read the file too."""
    found = []
    is_value = False
    for word in words:
        name, sign, value = word.partition("=")
        is_secret = bool(_SECRETS.intersection(re.split(r"[^a-z]+", name.lower())))
        if is_value and not word.startswith("-") or word.startswith(_KEYS):
            word = "*"
        elif sign and (is_secret or value.startswith(_KEYS)):
            word = f"{name}=*"
        is_value = is_secret and not sign and word.startswith("-")
        found.append(word)
    return found


def _number(variables: tuple[str, ...]) -> int | None:
    for variable in variables:
        text = os.environ.get(variable, "")
        if text.isdigit():
            return int(text)
    return None
