"""Records a program whose environment asks for it: the variable SNAPSCOPE_RECORD has a folder and options."""

from __future__ import annotations

import os
import sys

from .notices import guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_has_begun = False


@guarded
def begin() -> None:
    """Starts to record once PyTorch is imported, if the variable is set."""
    global _has_begun
    text = os.environ.get("SNAPSCOPE_RECORD", "")
    if _has_begun or text in ("", "0"):
        return
    _has_begun = True
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "cuda"):
        _imported(torch)
        return
    from .importing import when_imported

    when_imported("torch", _imported, lambda error: None)


@guarded
def _imported(torch: Any) -> None:
    from . import active, options

    read = options.of_text(os.environ["SNAPSCOPE_RECORD"])
    active.begin(read, is_asked_by_variable=True)
