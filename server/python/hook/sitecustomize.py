"""Starts the hook of the command in each Python process, then runs the environment's own sitecustomize."""

import os
import runpy
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _start():
    try:
        # Not imported: another command's hook on the path has a module of the same name.
        runpy.run_path(os.path.join(_FOLDER, "snapscope_begin.py"))["begin"](_FOLDER)
    except Exception as error:
        # The script must run even if it cannot be recorded; the command reports that nothing was recorded.
        print(f"snapscope: this process is not recorded: {error!r}", file=sys.stderr)


def _chain():
    """Runs the sitecustomize that this file hides, and takes this folder out of the search path."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _FOLDER]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_start()
_chain()
