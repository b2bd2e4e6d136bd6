"""Records this process from its first CUDA call to its end."""

import atexit
import os
import time

from . import alone, collectives, ending, engines, lines, texts, unsupported
from .exits import at_end_of_child
from .history import History
from .holding import Holding
from .keeper import Keeper
from .notices import failures, guarded, tried
from .snapshot import Writer
from .steps import Steps


class Recorder:
    """What `snapscope run` does in one process."""

    def __init__(self, torch, run, options, report):
        self.torch = torch
        self.run = run
        self.options = options
        self.report = report
        self.history = History(torch, options["max_events"])
        self.holding = Holding(self._current, torch, options.get("steps"))
        self.writer = Writer(run, options["output"], self.history, report, self.holding)
        self.peaks = {}
        self.pid = None
        self.is_vain = False
        self.has_ended = False

    def install(self):
        torch = self.torch
        self.report.facts.update(
            torch=str(torch.__version__), cuda=torch.version.cuda, hip=torch.version.hip, torch_file=torch.__file__
        )
        self.report.write()
        if torch.version.cuda is None:
            return
        self.steps = Steps(self._stepped, self._step_ended)
        self.history.install()
        self._keep_peaks()
        texts.install()
        self._carry_values()
        self.remedies = tried(None, self._remedies) if "remedies" in self.options else None
        self.report.facts["notes"] = []
        tried(None, engines.install, self.run, self.report)
        if self.options.get("sandbox"):
            tried(None, alone.install, self.report.facts["notes"])
        if self.options.get("weights") == "empty":
            tried(None, self._empty_weights)
        if self.options.get("world"):
            tried(None, self._answer_for_ranks)
        torch.cuda._lazy_call(self._cuda_started)
        atexit.register(self._end_before_cuda)

    def _carry_values(self):
        from . import values
        from .values.reads import Counts

        self.counts = Counts()
        try:
            values.install(self.torch, self.counts, self.options)
        except Exception as error:
            self.report.facts["values_error"] = repr(error)

    def _remedies(self):
        from .remedies import Remedies

        return Remedies(self.torch, self.options, self.report.facts, self._passed)

    def _answer_for_ranks(self):
        from . import ranks

        ranks.install(self.torch, self.report.facts["notes"])

    def _empty_weights(self):
        from . import weights

        weights.install(self.torch, self.run, self.report.facts["notes"])

    def _cuda_started(self):
        """Runs when CUDA is initialized."""
        if not tried(False, self._start):
            self.report.facts["hook_error"] = "; ".join(failures.values())
            tried(None, self.report.write)

    def _start(self):
        """Starts to record; returns true if it does."""
        self.pid = os.getpid()
        self.started = time.monotonic()
        self.report.facts.update(steps=0, ooms=[], devices=[], unsupported=[])
        self.listener = unsupported.listen(self.report.facts["unsupported"])
        self.history.start()
        self.torch._C._cuda_attach_out_of_memory_observer(self._out_of_memory)
        atexit.register(self._end)
        at_end_of_child(self._end)
        Keeper(self.run, self._roll, self.history.length, self._stop).start()
        self._tell()
        return True

    # Steps.

    @guarded
    def _stepped(self, count):
        self.report.facts["steps"] = count
        collectives.settle(count)
        tried(None, self.holding.stepped, count)
        self.is_vain = self.remedies is not None and tried(True, self.remedies.stepped, count)

    @guarded
    def _passed(self):
        """Counts a backward pass as a step."""
        self.steps.most += 1
        self._stepped(self.steps.most)
        self._step_ended()

    def _step_ended(self):
        wanted = self.options.get("steps")
        if (self.is_vain or wanted and self.steps.most >= wanted) and self.pid == os.getpid():
            self._stop("steps")

    # Memory.

    @guarded
    def _out_of_memory(self, device, size, total, free):
        """Runs before the error unwinds the stack that asked for the memory, in whichever thread that is."""
        oom = {"device": device, "size": size, "total": total, "free": free, "steps": self.steps.most}
        oom.update(tried({}, _place), allocated=tried(0, self._allocated, device))
        self.report.facts["ooms"] = [*self.report.facts["ooms"][-99:], oom]
        tried(None, self.writer.write, "out-of-memory")
        self._tell()

    def _allocated(self, device):
        """Returns the bytes of all allocations so far."""
        return self.torch._C._cuda_memoryStats(device)["allocated_bytes"]["all"]["allocated"]

    def _current(self):
        """Returns the bytes that are allocated now, on all devices."""
        stats = map(self.torch._C._cuda_memoryStats, range(self.torch._C._cuda_getDeviceCount()))
        return sum(one["allocated_bytes"]["all"]["current"] for one in stats)

    def _is_after_oom(self):
        """Returns true if the script has not gone on after its last out-of-memory error.

        It has if it took a step, or memory as large as what it had asked for, as with a smaller batch.
        """
        ooms = self.report.facts["ooms"]
        if not ooms:
            return False
        last = ooms[-1]
        has_gone_on = self._allocated(last["device"]) - last["allocated"] >= last["size"]
        return not (has_gone_on or self.steps.most > last["steps"])

    def _keep_peaks(self):
        """Remembers peaks that the script resets."""
        memory = self.torch.cuda.memory

        def wrap(name):
            reset = getattr(memory, name)

            def call(*args, **kwargs):
                tried(None, self._devices)
                return reset(*args, **kwargs)

            for module in (memory, self.torch.cuda):
                if getattr(module, name, None) is reset:
                    setattr(module, name, call)

        for name in ("reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached"):
            if hasattr(memory, name):
                wrap(name)

    def _devices(self):
        """Returns the peaks of each device so far."""
        found = []
        if self.pid != os.getpid():
            return found
        for index in range(self.torch._C._cuda_getDeviceCount()):
            stats = self.torch._C._cuda_memoryStats(index)
            peak = {
                "allocated": stats["allocated_bytes"]["all"]["peak"],
                "reserved": stats["reserved_bytes"]["all"]["peak"],
            }
            before = self.peaks.get(index, peak)
            peak = {name: max(size, before[name]) for name, size in peak.items()}
            self.peaks[index] = peak
            properties = self.torch.cuda.get_device_properties(index)
            found.append(
                {
                    "index": index,
                    "name": properties.name,
                    "total": properties.total_memory,
                    "peak_allocated": peak["allocated"],
                    "peak_reserved": peak["reserved"],
                    "retries": stats["num_alloc_retries"],
                    "allocations": stats["allocation"]["all"]["allocated"],
                }
            )
        return found

    # Ends.

    @guarded
    def _roll(self):
        if not self._is_after_oom():
            self.writer.write("rolling")
        self._tell()

    def _stop(self, reason):
        """Writes the last snapshot and, where the command has asked for the end, ends the process."""
        tried(None, self._finish, reason)
        if reason in ("steps", "time"):
            ending.leave_together(self.run, self.report.facts, bool(self.options.get("world")))
        elif reason == "abandoned":
            os._exit(1)

    @guarded
    def _end(self):
        # In a forked child that has not used CUDA, this is the parent's.
        if self.pid == os.getpid():
            self._finish("end")

    @guarded
    def _end_before_cuda(self):
        """Reports the exception that ends a script before it uses CUDA."""
        error = ending.last_exception()
        if self.pid is None and error is not None:
            self.report.facts["exception"] = error
            self.report.write()

    def _finish(self, reason):
        if self.has_ended:
            return
        self.has_ended = True
        facts = self.report.facts
        facts["exception"] = tried(None, ending.last_exception) if reason == "end" else None
        facts["is_out_of_memory"] = tried(bool(facts["ooms"]), self._is_after_oom)
        facts["stopped"] = None if reason == "end" else reason
        if not facts["is_out_of_memory"]:
            tried(None, self.holding.ended)
            tried(None, self.writer.write, reason)
        self._tell()

    def _tell(self):
        facts = self.report.facts
        facts["seconds"] = time.monotonic() - self.started
        facts["devices"] = tried(facts["devices"], self._devices)
        facts["values"] = self.counts.table()
        facts["events_lost"] = sum(self.history.lost.values())
        facts["is_compiled"] = self.counts.is_compiled
        facts["failures"] = [f"{name}: {error}" for name, error in failures.items()]
        self.report.write()


def _place():
    file, line, function = lines.user_line() or (None, None, None)
    return {"file": file, "line": line, "function": function}
