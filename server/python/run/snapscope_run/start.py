"""Reads the options of the command and waits for the script to import torch."""

import json
import os
import sys

from .report import Report


def begin(folder):
    """Prepares this process; `folder` has the hook's files, and its parent is the folder of the run."""
    run = os.path.dirname(folder)
    with open(os.path.join(run, "options.json"), encoding="utf-8") as file:
        options = json.load(file)
    sys.meta_path.insert(0, _Finder(_Waiting(run, options)))


class _Waiting:
    """What happens when the import of torch ends."""

    def __init__(self, run, options):
        self.run = run
        self.options = options

    def imported(self, torch):
        from .recorder import Recorder

        report = Report(self.run)
        try:
            Recorder(torch, self.run, self.options, report).install()
        except Exception as error:
            # The script must not fail because of the hook.
            report.facts["hook_error"] = repr(error)
            report.write()

    def failed(self, error):
        report = Report(self.run)
        report.facts["import_error"] = f"{type(error).__name__}: {error}"
        report.write()


class _Finder:
    """Finds only torch, once, and lets the other finders do it."""

    def __init__(self, waiting):
        self.waiting = waiting

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                _wrap(spec, self.waiting)
                return spec
        return None

    def invalidate_caches(self):
        """Has no cache."""


def _wrap(spec, waiting):
    """Makes the loader of a module tell when the module has run."""
    run = getattr(spec.loader, "exec_module", None)
    if run is None:
        return

    def exec_module(module):
        try:
            run(module)
        except Exception as error:
            waiting.failed(error)
            raise
        if hasattr(module, "cuda"):
            waiting.imported(module)

    spec.loader.exec_module = exec_module
