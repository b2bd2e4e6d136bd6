"""Applies remedies to a script while it runs, as `snapscope fix` asks, and says what the user has to write for them.

Each remedy does what its lines do, at the place where they go, so that both have the same peak.
A remedy that finds nothing to change, or that would not do what it promises, says so by `Site.refuse`.
"""

import functools

from ..notices import failures, tried
from . import batches, files, models, optimizers, settings
from .places import Site

_KINDS = {**models.REMEDIES, **optimizers.REMEDIES, **files.REMEDIES}


class Remedies:
    """The remedies of a run, in the order in which they are applied.

    In a script that makes no optimizer of PyTorch and updates its weights itself, `passed` is called after each backward
    pass.
    """

    def __init__(self, torch, options, facts, passed):
        self.sites = {name: Site(name, options) for name in options["remedies"]}
        facts["remedies"] = {name: site.facts for name, site in self.sites.items()}
        settings.install(torch, self.sites)
        for name, site in self.sites.items():
            remedy = batches.remedy if batches.is_size(name) else _KINDS.get(name)
            if remedy is not None:
                tried(None, remedy, torch, site)
        models.watch(torch, self.sites.values())
        self.has_optimizer = False
        self._watch_passes(torch, passed)

    def _watch_passes(self, torch, passed):
        begin = torch.optim.Optimizer.__init__
        backward = torch.Tensor.backward

        @functools.wraps(begin)
        def __init__(optimizer, *args, **kwargs):
            self.has_optimizer = True
            return begin(optimizer, *args, **kwargs)

        @functools.wraps(backward)
        def passing(loss, *args, **kwargs):
            backward(loss, *args, **kwargs)
            if not self.has_optimizer:
                self._refuse_sizes()
                passed()

        torch.optim.Optimizer.__init__ = __init__
        torch.Tensor.backward = passing

    def _refuse_sizes(self):
        for name, site in self.sites.items():
            if name.startswith("microbatch-") and site.is_settled:
                site.refuse("the script makes no optimizer of PyTorch, whose steps could be left out")

    def stepped(self, count):
        """Returns true after a step that shows that the run can prove nothing: a remedy has found nothing to change."""
        for name, site in self.sites.items():
            site.counted(count)
            if count > 1 and not site.facts["applied"] and not site.facts["refused"]:
                site.refuse("nothing in the script could be changed")
        if failures and self.sites:
            next(iter(self.sites.values())).refuse(f"it failed: {'; '.join(failures.values())}")
        return any(site.facts["refused"] for site in self.sites.values())
