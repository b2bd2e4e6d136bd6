"""Runs random programs of requests through PyTorch's own allocator and writes them with its answers.

    python allocator.py -o FOLDER [--programs 200] [--length 150] [--settings NAME ...]

Each program is a text of `program.rs` in `shared/tests/outside/support`: a line is a request and `>` begins an answer;
`cargo run -p snapscope-shared --example programs FOLDER` runs them again and compares.
The card is virtual and small, so that it is full every now and then.
"""

import argparse
import itertools
import os
import random
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from virtual import environment

MIB = 1 << 20
CARD = "custom:2GiB"

# Queries never find an event done: only what the program waits for is.
LAG = "1000000000"

SETTINGS = {
    "default": "",
    "split-20": "max_split_size_mb:20",
    "split-64": "max_split_size_mb:64,max_non_split_rounding_mb:40",
    "roundup": "roundup_power2_divisions:4",
    "roundup-list": "roundup_power2_divisions:[1:2,16:8,64:4,>:2]",
    "fraction": "per_process_memory_fraction:0.4",
    "collect": "garbage_collection_threshold:0.5,per_process_memory_fraction:0.6",
    "collect-split": "garbage_collection_threshold:0.6,per_process_memory_fraction:0.7,max_split_size_mb:32",
    "segment-32": "large_segment_size_mb:32",
    "expandable": "expandable_segments:True",
    "expandable-split": "expandable_segments:True,max_split_size_mb:32,roundup_power2_divisions:8",
    "expandable-segment": "expandable_segments:True,large_segment_size_mb:64",
    "expandable-collect": "expandable_segments:True,garbage_collection_threshold:0.5,per_process_memory_fraction:0.6",
    "no-split": "",
    "no-split-expandable": "expandable_segments:True",
    "use-on-oom": "",
    "use-on-oom-split": "max_split_size_mb:32",
    "use-on-oom-expandable": "expandable_segments:True",
    "both-options": "",
}

# What the private pools of a setting are made with; each program has some there.
OPTIONS = {
    "no-split": ["no_split"],
    "no-split-expandable": ["no_split"],
    "use-on-oom": ["use_on_oom"],
    "use-on-oom-split": ["use_on_oom"],
    "use-on-oom-expandable": ["use_on_oom"],
    "both-options": ["no_split", "use_on_oom"],
}


def size_of(draw: random.Random) -> int:
    """A request, most often near a limit of the allocator."""
    regime = draw.random()
    if regime < 0.35:
        return draw.randint(1, 4096)
    if regime < 0.55:
        return draw.randint(4096, MIB + 2048)
    if regime < 0.75:
        return draw.randint(MIB - 512, 12 * MIB)
    if regime < 0.95:
        return draw.choice([10, 16, 20, 32, 33, 40, 64, 100]) * MIB + draw.choice([-1, 0, 1, 512, 700_000])
    return draw.randint(100 * MIB, 900 * MIB)


@dataclass
class Recording:
    """One program as it runs: its lines, and what is needed to read the answers."""

    torch: Any
    draw: random.Random
    options: list[str] = field(default_factory=list)
    lines: list[tuple[str, int]] = field(default_factory=list)
    live: dict[int, Any] = field(default_factory=dict)
    addresses: dict[int, int] = field(default_factory=dict)
    shared: dict[int, set[int]] = field(default_factory=dict)
    # Freed, still used by these streams: what the program has not waited for.
    waiting: dict[int, set[int]] = field(default_factory=dict)
    pools: dict[int, Any] = field(default_factory=dict)
    identities: dict[Any, int] = field(default_factory=dict)
    names: int = 0
    # Uses by streams while a pool took requests, and whether a free since then has no events yet.
    captured: dict[int, set[int]] = field(default_factory=dict)
    deferred: bool = False
    entered: Any = None
    pool: int = 0
    requests: int = 0
    operation: int = 0

    def __post_init__(self) -> None:
        self.home: dict[int, int] = {}
        self.origin: dict[int, int] = {}
        streams = [self.torch.cuda.Stream() for _ in range(3)]
        self.streams = [self.torch.cuda.default_stream(), *sorted(streams, key=lambda stream: stream.cuda_stream)]

    def say(self, line: str) -> None:
        self.lines.append((line, self.operation))

    def allocate(self) -> None:
        request, self.requests = self.requests, self.requests + 1
        size, stream = size_of(self.draw), self.draw.choice([0, 0, 0, 0, 1, 2])
        line = f"a {request} {size}" + (f" s{stream}" if stream else "") + (f" p{self.pool}" if self.pool else "")
        if not self.pool:
            self.complete()
        self.say(line)
        with self.torch.cuda.stream(self.streams[stream]):
            try:
                tensor = self.torch.empty(size, dtype=self.torch.uint8, device="cuda")
            except self.torch.OutOfMemoryError:
                self.synced()
                return
        self.live[request], self.addresses[request] = tensor, tensor.data_ptr()
        self.home[request], self.origin[request] = stream, self.pool

    def complete(self) -> None:
        """A request first completes the pending frees that nothing is waited for any more."""
        for request in [request for request, streams in self.waiting.items() if not streams]:
            self.say(f"d {request}")
            del self.waiting[request]
        self.deferred = False

    def synced(self) -> None:
        """A request that fails has waited for every pending free, unless a pool takes requests."""
        if not self.pool:
            self.waiting.clear()
            self.deferred = False

    def free(self) -> None:
        request = self.draw.choice(list(self.live))
        self.say(f"f {request}")
        for stream in self.shared.get(request, ()):
            # Work for the stream, without which the free would wait for nothing.
            with self.torch.cuda.stream(self.streams[stream]):
                self.live[request].fill_(1)
        del self.live[request]
        if request in self.shared:
            uses = self.shared.pop(request)
            if self.pool:
                # Its events are recorded by the first request after the pool, without what was used since it came.
                uses -= self.captured.get(request, set())
                self.deferred = True
            self.waiting[request] = uses

    def use(self) -> None:
        request = self.draw.choice(list(self.live))
        stream = self.draw.choice([0, 1, 2, 3])
        self.say(f"u {request} {stream}")
        self.live[request].record_stream(self.streams[stream])
        if stream != self.home[request]:
            self.shared.setdefault(request, set()).add(stream)
            if self.pool:
                self.captured.setdefault(request, set()).add(stream)

    def wait(self) -> None:
        if self.pool or self.deferred:
            return
        stream = self.draw.choice([0, 1, 2, 3])
        self.streams[stream].synchronize()
        for streams in self.waiting.values():
            streams.discard(stream)

    def empty(self) -> None:
        if self.pool and self.lingers():
            return
        self.say("e")
        self.torch.cuda.empty_cache()
        self.synced()

    def switch(self) -> None:
        if self.pool:
            self.leave()
            return
        helps_out = "use_on_oom" in self.options
        if self.pools and not helps_out and self.draw.random() < 0.3:
            self.drop()
            return
        # Of several pools that help out PyTorch's hash table chooses, so there is one.
        pool = self.draw.choice([*self.pools] if helps_out and self.pools else [*self.pools, self.names + 1])
        if pool not in self.pools:
            self.names = pool
            self.pools[pool] = self.torch.cuda.MemPool(**{option: True for option in self.options})
            self.identities[self.pools[pool].id] = pool
        self.entered = self.torch.cuda.use_mem_pool(self.pools[pool])
        self.entered.__enter__()
        self.pool = pool
        self.say(" ".join(["b", str(pool), *self.options]))

    def leave(self) -> None:
        if self.pool:
            self.entered.__exit__(None, None, None)
            self.say(f"n {self.pool}")
            self.pool, self.entered = 0, None

    def lingers(self) -> bool:
        """Whether memory of a pool that was given up is still in use."""
        return any(self.origin[request] not in [0, *self.pools] for request in [*self.live, *self.waiting])

    def drop(self) -> None:
        """Gives a pool up, with all streams done: unmapping waits for a stream, which nothing records.

        Only one can linger: PyTorch's hash table orders what is given back of several.
        """
        if self.deferred or self.lingers():
            return
        pool = self.draw.choice(list(self.pools))
        self.torch.cuda.synchronize()
        for streams in self.waiting.values():
            streams.clear()
        self.say(f"x {pool}")
        del self.pools[pool]

    def step(self, pools: bool) -> None:
        self.torch.cuda.memory._set_memory_metadata(str(self.operation))
        kind = self.draw.random()
        if kind < 0.53 or not self.live:
            self.allocate()
        elif kind < 0.89:
            self.free()
        elif kind < 0.94:
            self.use()
        elif kind < 0.96:
            self.wait()
        elif kind < 0.97:
            self.empty()
        elif pools:
            self.switch()
        self.operation += 1

    def text(self, conf: str, usable: int, total: int) -> str:
        """The program with the answers, each behind its line."""
        snapshot = self.torch.cuda.memory._snapshot()
        streams = {stream.cuda_stream: index for index, stream in enumerate(self.streams)}
        names = Names(total)
        answers: dict[int, list[dict[str, Any]]] = {}
        for event in snapshot["device_traces"][0]:
            if event["action"] != "snapshot":
                answers.setdefault(int(event["user_metadata"]), []).append(event)
        lines = [f"card {total} {usable}", f"torch {'.'.join(self.torch.__version__.split('.')[:2])}"]
        lines.append(f"conf {conf}".rstrip())
        done = {f"d {request}": address for request, address in self.addresses.items()}
        for line, operation in self.lines:
            events = answers.get(operation, [])
            taken = events
            if line in done:
                # The request's first events are those of frees that were pending, but for those that a full card ended.
                taken = [event for event in leading(events) if event["addr"] == done[line]][:1]
                if not taken:
                    continue
            answers[operation] = [event for event in events if event not in taken]
            lines += [line, *said(taken, names)]
        lines += [f"left over: {event}" for events in answers.values() for event in events]
        segments = sorted(snapshot["segments"], key=lambda segment: names.of(segment["address"]))
        for segment in segments:
            lines += state(segment, names, streams, self.identities)
        return "\n".join(lines) + "\n"


class Names:
    """Segments by the order in which they appear: addresses differ from run to run."""

    def __init__(self, total: int) -> None:
        self.count, self.total, self.live = 0, total, []

    def find(self, address: int) -> list[int] | None:
        rows = [row for row in self.live if row[1] <= address < row[1] + row[2]]
        return max(rows, key=lambda row: row[1], default=None)

    def of(self, address: int) -> tuple[int, int]:
        row = self.find(address)
        return (row[0], address - row[1]) if row else (self.count, address)

    def see(self, event: dict[str, Any]) -> None:
        row = self.find(event["addr"])
        if event["action"] == "segment_map" and row:
            row[3] += event["size"]
        elif event["action"] in ("segment_alloc", "segment_map"):
            length = event["size"] if event["action"] == "segment_alloc" else self.total + self.total // 8
            self.live.append([self.count, event["addr"], length, event["size"]])
            self.count += 1

    def forget(self, event: dict[str, Any]) -> None:
        if event["action"] in ("segment_free", "segment_unmap") and (row := self.find(event["addr"])):
            row[3] -= event["size"]
            if row[3] == 0:
                self.live.remove(row)


def leading(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The ends of frees that come before anything else."""
    return list(itertools.takewhile(lambda event: event["action"] == "free_completed", events))


def said(events: list[dict[str, Any]], names: Names) -> list[str]:
    """The answers to one line."""
    lines: list[str] = []
    batch: list[tuple[tuple[int, int], int]] = []
    for event, following in itertools.zip_longest(events, events[1:]):
        action, size = event["action"], event["size"]
        if action == "oom":
            lines.append(f"> oom {size} free={event['device_free']}")
            continue
        names.see(event)
        number, offset = names.of(event["addr"])
        if action == "free_completed":
            batch.append(((number, offset), size))
            if not following or following["action"] != action:
                if lines and lines[-1] == f"> free_requested {number}+{offset} {size}" and len(batch) == 1:
                    lines[-1] = f"> free {number}+{offset} {size}"
                else:
                    lines += [f"> {action} {name[0]}+{name[1]} {size}" for name, size in sorted(batch)]
                batch = []
            continue
        lines.append(f"> {action} {number}+{offset} {size}")
        names.forget(event)
    return lines


def state(segment: dict[str, Any], names: Names, streams: dict[int, int], pools: dict[Any, int]) -> list[str]:
    """A segment at the end, and its blocks."""
    number, offset = names.of(segment["address"])
    pool = pools.get(tuple(segment["segment_pool_id"]), 0)
    expandable = " expandable" if segment["is_expandable"] else ""
    head = f"| {number}+{offset} {segment['total_size']} {segment['segment_type']} s{streams[segment['stream']]}"
    lines = [f"{head} p{pool}{expandable}"]
    words = {"active_allocated": "allocated", "active_pending_free": "pending"}
    for block in segment["blocks"]:
        word = words.get(block["state"])
        lines.append(f"|  {block['size']} " + (f"{word} {block['requested_size']}" if word else "free"))
    return lines


def record(seed: int, length: int, conf: str, options: list[str]) -> str:
    """Runs one program in this process, which has not used CUDA yet."""
    import torch

    usable, total = torch.cuda.mem_get_info()
    torch.cuda.memory._record_memory_history(context=None, stacks="python")
    recording = Recording(torch, random.Random(seed), options)
    for _ in range(length):
        recording.step(pools=seed % 2 == 1 or bool(options))
    recording.leave()
    return recording.text(conf, usable, total)


def record_all(name: str, programs: int, length: int, folder: Path) -> None:
    """Runs the programs of one setting, a fork each: PyTorch reads its settings once."""
    import torch  # noqa: F401  (loaded once for all forks)

    for seed in range(programs):
        child = os.fork()
        if child == 0:
            (folder / f"{name}-{seed:03}.txt").write_text(record(seed, length, SETTINGS[name], OPTIONS.get(name, [])))
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            sys.exit(f"error: program {seed} of {name} failed")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("-o", "--output", type=Path, required=True, help="the folder for the texts")
    arguments.add_argument("--programs", type=int, default=200, help="how many for each setting")
    arguments.add_argument("--length", type=int, default=150, help="how many steps each has")
    arguments.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    arguments.add_argument("--record", choices=SETTINGS, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    if given.record:
        record_all(given.record, given.programs, given.length, given.output)
        return
    counts = ["--programs", str(given.programs), "--length", str(given.length)]
    for name in given.settings:
        command = [sys.executable, __file__, "-o", str(given.output), *counts, "--record", name]
        settings = {"PYTORCH_CUDA_ALLOC_CONF": SETTINGS[name], "SNAPSCOPE_VIRTUAL_GPU_EVENT_LAG": LAG}
        subprocess.run(command, env=environment(CARD, **settings), check=True)
        print(f"{name}: {given.programs} programs", flush=True)


if __name__ == "__main__":
    main()
