"""Runs somebody's script on the virtual GPU: launch.py SCRIPT [ARGUMENTS…]

Two things differ from running it directly, neither of which reaches the GPU.
Weights are not initialized on the CPU, which would take minutes: their values reach no allocation.
A package that is not installed, such as one that draws tables, is replaced by one that accepts everything.
"""

import importlib.abc
import importlib.machinery
import runpy
import sys
from pathlib import Path
from types import ModuleType
from unittest.mock import MagicMock


class Anything(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every package that no one else finds."""

    # What libraries try, and do without.
    LEFT_OUT = frozenset(
        {"torch", "triton", "numpy", "tensorrt", "torch_xla", "torchvision", "optree", "intel_extension_for_pytorch"}
    )

    def __init__(self, names: list[str]) -> None:
        self.names = set(names)

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        """Offers a replacement for a package that the pair names, and for its parts."""
        if name.partition(".")[0] not in self.names - self.LEFT_OUT:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Makes a module that has every attribute."""
        module = MagicMock(name=spec.name)
        module.__name__, module.__spec__, module.__path__ = spec.name, spec, []
        return module

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def leave_weights() -> None:
    """Makes the initializers return their tensor as it is."""
    import torch

    for name in dir(torch.nn.init):
        if name.endswith("_") and not name.startswith("_"):
            setattr(torch.nn.init, name, lambda tensor, *_, **__: tensor)


def main(replaced: str, script: str, *arguments: str) -> None:
    """Runs the script as Python would."""
    sys.meta_path.append(Anything(replaced.split(",")))
    leave_weights()
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(script).resolve().parent)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
