"""Recordings that began late, ended early or left out actions, cut from a whole one.

usage: python3 cuts.py SNAPSHOT FOLDER

Writes pickles into the folder and prints their paths.
"""

import pickle
import random
import sys
from pathlib import Path

from oracle import load

LEFT_OUT = [(), ("free_completed",), ("free_requested",)]


def cuts(snapshot):
    """The snapshot with the later part of its traces, as a full ring buffer leaves it, and without some actions."""
    chooser = random.Random(5)
    for left_out in LEFT_OUT:
        for _ in range(5):
            kept = chooser.random()
            traces = [trace[int(len(trace) * kept):] for trace in snapshot["device_traces"]]
            traces = [[event for event in trace if event["action"] not in left_out] for trace in traces]
            yield {**snapshot, "device_traces": traces}


if __name__ == "__main__":
    source, folder = map(Path, sys.argv[1:])
    for number, snapshot in enumerate(cuts(load(source)[0])):
        path = folder / f"{source.name}.{number}.pickle"
        path.write_bytes(pickle.dumps(snapshot, 4))
        print(path)
