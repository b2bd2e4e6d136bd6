"""Starts the hook of `snapscope run`."""

from snapscope_run.start import begin  # noqa: F401
