"""Shows a snapshot in a notebook."""

from __future__ import annotations

import html
import os
import subprocess
import tempfile

from .binary import binary
from .notices import warn


class Page:
    """A page that notebooks show in a frame."""

    def __init__(self, text: str, height: int) -> None:
        self.text = text
        self.height = height

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self.height}px;border:0"
        return f'<iframe srcdoc="{html.escape(self.text)}" style="{style}" sandbox=""></iframe>'


def show(path: str | os.PathLike[str], height: int = 700) -> Page | None:
    """Returns the page of a snapshot, with its timeline and findings, for the last line of a cell."""
    program = binary()
    if program is None:
        warn("show", "the program snapscope is not on the PATH, so nothing is shown; SNAPSCOPE_PROGRAM names it")
        return None
    with tempfile.TemporaryDirectory(prefix="snapscope-") as folder:
        page = os.path.join(folder, "page.html")
        command = [program, "export", os.fspath(path), "--to", "html", "-o", page]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            if ran.returncode != 0:
                warn("show", f"nothing is shown: {ran.stderr.strip()}")
                return None
            with open(page, encoding="utf-8") as file:
                return Page(file.read(), height)
        except OSError as error:
            warn("show", f"nothing is shown: {error}")
            return None
