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

# Names of options whose value is a secret: words that tell it anywhere in a name, at its end, and as its last word.
_SECRET = re.compile(
    r"(?i:[\w.-]{0,64}(?:pass(?:word|wd|phrase)|secret|credential|(?:api|access|account|private)[_-]?key)[\w.-]{0,64}"
    r"|[\w.-]{0,64}(?:token|cookie|auth|authorization|pwd)|[\w.-]{0,64}[_-](?:key|pass|pat))"
)

# Secrets inside a word: keys by their beginnings, accounts in addresses, and values behind such names.
_INSIDE = re.compile(
    r"(?<![\w./-])(?:hf_|sk-|[prs]k_(?:live|test)_|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|xapp-|AKIA|ASIA|AIza|nvapi-"
    r"|eyJ)[\w.~+/=-]+"
    r"|(?<=://)[^/\s]*(?=@)"
    rf"|((?i:\bbearer\s+)|(?<![\w.-])(?:{_SECRET.pattern}[\"'\]]*\s*[=:]\s*|(?=-){_SECRET.pattern}\s+))"
    r"(?i:(?:bearer|basic|token)\s+)?(?:\"[^\"]*\"|'[^']*'|[^\s\"',;&}]+)"
)


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
        name, sign, _ = word.partition("=")
        is_secret = _SECRET.fullmatch(name) is not None
        if is_value and not word.startswith("-"):
            shown = "*"
        else:
            shown = f"{name}=*" if sign and is_secret else _INSIDE.sub(r"\1*", word)
        is_flag = is_secret and not sign and word.startswith("-")
        # A shell may have split a header: `Authorization:Bearer x`.
        is_value = is_flag or word.lower().endswith(("bearer", ":basic"))
        found.append(shown)
    return found


def _number(variables: tuple[str, ...]) -> int | None:
    for variable in variables:
        text = os.environ.get(variable, "")
        if text.isdigit():
            return int(text)
    return None
