"""Records this process from its first use of CUDA, and decides when a snapshot is written."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
import time
from typing import Any

from . import active, naming, process, trackers
from .cards import cards
from .exits import at_end_of_child
from .files import Files
from .history import History
from .marks import Marks
from .naming import Named
from .notices import guarded, warn
from .options import Options
from .triggers import Triggers

# Snapshots for out-of-memory errors; a search for the largest batch makes hundreds of errors.
MOST_OUT_OF_MEMORY = 3

# Seconds that a snapshot waits for another one.
PATIENCE = 60.0

# Reasons of which only the latest files are kept.
ROLLING = ("every", "rolling")


class Recorder:
    """A recording of one process."""

    def __init__(self, torch: Any, options: Options, is_asked_by_variable: bool) -> None:
        self.torch = torch
        self.options = options
        # None until CUDA is used.
        self.pid: int | None = None
        # Other processes of the same environment have nothing to record, and should not say so.
        self.is_asked_by_variable = is_asked_by_variable
        self.history = History(torch, options)
        self.marks = Marks(torch, self.history.has_annotations)
        self.files = Files(options.folder, options.compress)
        self.triggers = Triggers(self)
        self.lock = threading.RLock()
        self.is_writing = False
        self.is_recording = False
        self.has_ended = False
        self.is_by_hand = False
        self.step = 0
        self.out_of_memory_at: list[int] = []
        self.rolled: list[str] = []
        self.errors: list[dict[str, Any]] = []
        self.step_mark: Any = None
        # Steps and the bytes that are allocated after them: the first, by when optimizer state is there, and the latest.
        self.allocated: list[tuple[int, int]] = []
        self.modules: Any = None

    # Beginning.

    def prepare(self) -> bool:
        """Checks whether anything can be recorded."""
        version = self.torch.version
        if version.cuda is None and getattr(version, "hip", None) is None:
            if not self.is_asked_by_variable:
                warn("no CUDA", "nothing is recorded, because this PyTorch is built without CUDA and without ROCm")
            return False
        rank = process.rank()
        if rank is not None and self.options.ranks is not None and rank not in self.options.ranks:
            return False
        return self.files.prepare()

    def begin(self) -> None:
        """Has PyTorch call when CUDA is used, because a process that has used it cannot fork."""
        self.torch.cuda._lazy_call(self._cuda_started)

    def forked(self) -> None:
        """Makes a recorder that has not begun that of a forked child."""
        self.lock = threading.RLock()
        self.files = Files(self.options.folder, self.options.compress)

    @guarded
    def _cuda_started(self) -> None:
        if self.has_ended or active.current() is not self:
            return
        self.pid = os.getpid()
        self.run = self.options.run or process.run_name()
        self.facts = process.facts(self.options)
        self.steps = active.count_steps()
        atexit.register(active.stop, self, "end")
        at_end_of_child(lambda: active.stop(self, "end"))
        if self.options.out_of_memory:
            active.observe_memory(self.torch)
        if self.options.steps is None or self.options.steps[0] == 0:
            self._record()
        self.triggers.start()

    def _record(self) -> None:
        self.history.start()
        self.is_recording = True
        if self.options.modules:
            from .modules import Modules

            self.modules = Modules(self.torch, self.marks)
        if self.options.annotate:
            self.step_mark = self.marks.begin(self._step_name())

    # Steps.

    @guarded
    def step_by_hand(self) -> None:
        """Counts a step that the program marks; then the optimizer's are no longer counted."""
        # The first one may mark a step that the optimizer has just taken.
        is_counted = not self.is_by_hand and self.step > 0
        self.is_by_hand = True
        if self.pid is not None and not is_counted:
            self._step()

    @guarded
    def stepped(self) -> None:
        """Counts a step of the optimizer."""
        if self.modules is not None:
            self.modules.stepped(list(self.steps.counts))
        if not self.is_by_hand and self.pid is not None:
            self._step()

    def _step(self) -> None:
        self.step += 1
        if self.options.trackers and self.is_recording and trackers.is_any():
            self.allocated = [*self.allocated[:1], (self.step, self.torch.cuda.memory_allocated())]
        if self.step_mark is not None:
            self.marks.end(self.step_mark)
            self.step_mark = None
        first, last = self.options.steps or (0, None)
        if self.step == last:
            active.stop(self, "window")
            return
        if self.step == first and not self.is_recording:
            self._record()
        elif self.is_recording:
            if self.options.every and self.step % self.options.every == 0:
                self.dump("every")
            if self.options.annotate:
                self.step_mark = self.marks.begin(self._step_name())

    def _step_name(self) -> str:
        """Returns the name that torch.profiler would give to the step that goes on."""
        return f"ProfilerStep#{self.step}"

    # Snapshots.

    @guarded
    def out_of_memory(self, error: dict[str, Any]) -> None:
        """Runs before the error unwinds the stack that asked for the memory."""
        self.errors = [*self.errors[-99:], {**error, "step": self.step}]
        if len(self.out_of_memory_at) < MOST_OUT_OF_MEMORY:
            self.out_of_memory_at.append(self.step)
            self.dump("out-of-memory")
        else:
            warn(
                "out of memory",
                f"memory ran out more than {MOST_OUT_OF_MEMORY} times; no more snapshots are written for it",
            )

    @guarded
    def finish(self, reason: str) -> str | None:
        """Writes the last snapshot and stops."""
        if self.has_ended:
            return None
        self.has_ended = True
        if self.pid is None:
            if not self.is_asked_by_variable:
                warn("no CUDA", "nothing was recorded, because CUDA was not used")
            return None
        atexit.unregister(active.stop)
        self.triggers.stop()
        if self.modules is not None:
            self.modules.remove()
        # If the error has ended the program, the stacks that asked for the memory have been left by now.
        is_error = reason == "exception" or getattr(sys, "last_value", None) is not None
        has_failed = is_error and self.out_of_memory_at[-1:] == [self.step]
        first, _ = self.options.steps or (0, None)
        if self.step < first:
            said = f"nothing was recorded, because recording begins after step {first}, and {self.step} were counted; "
            warn("no steps", f"{said}snapscope.step() marks the steps that PyTorch's optimizers do not tell")
        if self.is_recording and not has_failed:
            self.dump(reason, is_last=True)
        if self.step_mark is not None:
            self.marks.end(self.step_mark)
        if self.is_recording:
            self.history.stop()
            self.is_recording = False
        self.files.wait()
        return self.files.last

    @guarded
    def dump(self, reason: str, is_last: bool = False) -> str | None:
        """Writes a snapshot; returns its file, or None if nothing is recorded or the call interrupts another one."""
        if not self.is_recording or self.pid != os.getpid() or not self.lock.acquire(timeout=PATIENCE):
            return None
        try:
            # A signal can arrive in the middle of a snapshot.
            if self.is_writing:
                return None
            self.is_writing = True
            try:
                return self._dump(reason, is_last)
            finally:
                self.is_writing = False
        finally:
            self.lock.release()

    def _dump(self, reason: str, is_last: bool) -> str | None:
        if self.history.is_lost():
            warn("history", "the program has ended the history of memory, so the snapshot has only what is left of it")
        start = time.monotonic()
        facts = {"reason": reason, "step": self.step, "run": self.run, **self.facts, **self._moment()}
        # What the snapshot consists of must not move the moment at which the program's own garbage is collected.
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            names = self._names(facts)
            snapshot = self.history.read()
            # What comes after the last step is no step.
            self.marks.add_to(snapshot, self._step_name() if reason == "end" else None)
            facts["ring"] = self._ring(snapshot)
            naming.add_to(snapshot, self._with_cycles(names, facts))
            stem = self.files.snapshot(self._name(reason), snapshot)
            snapshot, names = {}, []
        finally:
            if was_enabled:
                gc.enable()
        if stem is None:
            return None
        facts["seconds"] = round(time.monotonic() - start, 6)
        self.files.sidecar(stem, facts)
        if reason in ROLLING:
            self._roll(stem)
        self.files.finish(stem, is_last)
        if self.options.trackers:
            ending = ".pickle.gz" if self.options.compress else ".pickle"
            trackers.tell(self._figures(facts["cards"]), self.step, stem + ending)
        return self.files.last

    def _names(self, facts: dict[str, Any]) -> list[Named]:
        """Returns what tensors are and who holds them, as far as that is asked for; the facts get the holders."""
        names: list[Named] = []
        if self.modules is not None:
            names += self.modules.tensors() or []
        if self.options.holders:
            from .holders import holders

            held, held_names = guarded(holders)(self.torch) or (None, [])
            facts["holders"] = None if held is None else {"held": held}
            # It goes without saying who holds a parameter, its gradient and its state.
            known = {name[:2] for name in names}
            names += {name[:2]: name for name in held_names if name[:2] not in known}.values()
        return names

    def _with_cycles(self, names: list[Named], facts: dict[str, Any]) -> list[Named]:
        """Adds what only reference cycles hold; collecting them frees their memory, so it comes after the reading."""
        if not facts.get("holders"):
            return names
        from .holders import cycles

        facts["holders"]["cycles"], found = guarded(cycles)(self.torch) or (None, [])
        return names + found

    def _moment(self) -> dict[str, Any]:
        """Returns what is true now."""
        torch = self.torch
        return {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "torch": str(torch.__version__),
            "cuda": torch.version.cuda,
            "hip": getattr(torch.version, "hip", None),
            "cards": cards(torch),
            "out_of_memory": self.errors,
        }

    def _figures(self, cards: list[dict[str, Any]]) -> dict[str, float]:
        """Returns the highest peaks of the cards, and what each step leaves behind, in bytes."""
        names = {f"peak_{of}_bytes": f"{of}_bytes.all.peak" for of in ("allocated", "reserved")}
        figures = {
            name: max((card["memory_stats"].get(key, 0) for card in cards), default=0) for name, key in names.items()
        }
        if len(self.allocated) > 1:
            (first, before), (last, after) = self.allocated
            figures["growth_bytes_per_step"] = (after - before) / (last - first)
        return figures

    def _ring(self, snapshot: dict[str, Any]) -> dict[str, Any]:
        events = [len(trace) for trace in snapshot.get("device_traces", ())]
        is_full = max(events, default=0) >= self.options.entries
        if is_full:
            warn(
                "ring",
                f"the history has more than {self.options.entries:,} events, and the snapshot the latest of them; "
                "the option entries keeps more",
            )
        return {"entries": self.options.entries, "events": events, "is_full": is_full}

    def _name(self, reason: str) -> str:
        rank = process.rank()
        place = f".rank{rank}" if rank is not None else ""
        return f"{self.run}{place}.step{self.step}.{reason}"

    def _roll(self, stem: str) -> None:
        self.rolled.append(stem)
        while len(self.rolled) > self.options.keep:
            self.files.remove(self.rolled.pop(0))
