"""Waits until a program has imported a module."""

from __future__ import annotations

import sys

from .notices import tried

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


def when_imported(name: str, imported: Callable[[Any], None], failed: Callable[[Exception], None]) -> None:
    """Calls one of the functions when the import of the module ends; never imports it."""
    sys.meta_path.insert(0, _Finder(name, imported, failed))


def at_import(name: str, imported: Callable[[Any], None]) -> None:
    """Calls the function with the module, now if it is imported, or else when its import ends."""
    if name in sys.modules:
        tried(None, imported, sys.modules[name])
    else:
        when_imported(name, imported, lambda error: None)


class _Finder:
    """Finds only this module, until it is imported, and lets the other finders do it.

    Being found is not being imported: transformers asks whether there is a torch before it imports it.
    """

    def __init__(self, name: str, imported: Callable[[Any], None], failed: Callable[[Exception], None]) -> None:
        self.name = name
        self.imported = imported
        self.failed = failed

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name:
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        for finder in tried(others, self._later):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                tried(None, self._wrap, spec)
                return spec
        return None

    def _later(self) -> list[Any]:
        """Returns the finders that come after this one, since an earlier one of this kind asks this one."""
        finders = list(sys.meta_path)
        return finders[finders.index(self) + 1 :] if self in finders else finders

    def invalidate_caches(self) -> None:
        """Has no cache."""

    def _wrap(self, spec: Any) -> None:
        """Makes the loader of the module tell when the module has run."""
        run = getattr(spec.loader, "exec_module", None)
        if run is None:
            return

        def exec_module(module: Any) -> None:
            try:
                run(module)
            except Exception as error:
                tried(None, self.failed, error)
                raise
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                tried(None, self.imported, module)

        spec.loader.exec_module = exec_module
