"""Dumps snapshots of tracemalloc into a folder, and prints what tracemalloc itself says about them.

A line for each snapshot: its path, that of the first snapshot of its series, the number of frames of its stacks, its
statistics by line and by file, and the differences from the first snapshot by line.
"""

import gzip
import json
import pickle
import shutil
import sys
import tracemalloc

folder = sys.argv[1]
kept = []


def train(steps):
    for step in range(steps):
        kept.append({"step": str(step) * 20, "losses": [step / 3] * 30})
        if step % 7 == 0:
            kept.append(json.loads(json.dumps({"name": "run", "value": [step, 2.5, None]})))


def rows(statistics):
    return [[row.traceback[0].filename, row.traceback[0].lineno, row.size, row.count] for row in statistics]


def differences(statistics):
    return [row[:2] + [change.size_diff, change.count_diff]
            for row, change in zip(rows(statistics), statistics)]


def written(snapshot, name, protocol):
    path = f"{folder}/{name}"
    if protocol is None:
        snapshot.dump(path)
    else:
        with open(path, "wb") as file:
            pickle.dump(snapshot, file, protocol)
    return path


def told(path, snapshot, first_path, first):
    print(json.dumps([
        path,
        first_path,
        snapshot.traceback_limit,
        rows(snapshot.statistics("lineno")),
        rows(snapshot.statistics("filename")),
        differences(snapshot.compare_to(first, "lineno")),
    ]))


for limit in (1, 10):
    tracemalloc.start(limit)
    first = None
    # Protocols 0 and 1 have no opcode for objects without arguments.
    for number, protocol in enumerate((None, None, 2, 3, 4)):
        train(600)
        snapshot = tracemalloc.take_snapshot()
        path = written(snapshot, f"{limit}-{number}.pickle", protocol)
        first_path, first = (path, snapshot) if first is None else (first_path, first)
        told(path, snapshot, first_path, first)
    with open(path, "rb") as plain, gzip.open(path + ".gz", "wb") as packed:
        shutil.copyfileobj(plain, packed)
    told(path + ".gz", snapshot, first_path, first)
    tracemalloc.stop()
    kept.clear()

# Lists of one trace and of none are written by other opcodes.
for name, count in (("one", 1), ("none", 0)):
    few = tracemalloc.Snapshot(snapshot.traces._traces[:count], 10)
    path = written(few, name + ".pickle", None)
    told(path, few, path, few)
