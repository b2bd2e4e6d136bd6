"""Reads the options of the command and waits for the script to import torch."""

import json
import os

from . import sharing
from .importing import when_imported
from .report import Report


# The options of this process, once it has begun.
options = {}


def begin(folder, is_fork=False):
    """Prepares this process; `folder` has the hook's files, and its parent is the folder of the run.

    A fork is that of a process which imports torch for others, see `sharing`.
    """
    run = os.path.dirname(folder)
    options.clear()
    with open(os.path.join(run, "options.json"), encoding="utf-8") as file:
        options.update(json.load(file))
    if "serve" in options:
        return
    if "shared" in options and not is_fork:
        sharing.hand_over(options["shared"], folder)
    waiting = _Waiting(run, options)
    when_imported("torch", waiting.imported, waiting.failed)


class _Waiting:
    """What happens when the import of torch ends."""

    def __init__(self, run, options):
        self.run = run
        self.options = options

    def imported(self, torch):
        if not hasattr(torch, "cuda"):
            return
        report = Report(self.run)
        try:
            from .recorder import Recorder

            Recorder(torch, self.run, self.options, report).install()
        except Exception as error:
            # The script must not fail because of the hook.
            report.facts["hook_error"] = repr(error)
            report.write()

    def failed(self, error):
        report = Report(self.run)
        report.facts["import_error"] = f"{type(error).__name__}: {error}"
        report.write()
