"""Whether snapshots say the same, as CPython reads them.

usage: python3 same_snapshot.py ORIGINAL EXPORT [ORIGINAL EXPORT]...

Exits with the first difference.
What may differ: the type of pool ids, the sign of addresses beyond 2^63, absent against empty fields and traces, fields that no
version of torch knows, and the old layouts against today's.
"""

import sys

from oracle import UNSIGNED, load

SEGMENT = ["device", "stream", "segment_type", "is_expandable", "total_size", "allocated_size", "active_size",
           "requested_size"]
BLOCK = ["size", "requested_size", "state"]
TEXTS = ["compile_context", "user_metadata", "internal_metadata", "category"]
FRAME = ["name", "filename", "fx_node_op", "fx_node_name", "fx_node_target", "fx_original_trace"]


# Frames are shared by thousands of stacks: each is looked at once.
seen = {}


def normal(snapshot):
    if isinstance(snapshot, list):
        snapshot = {"segments": snapshot, "device_traces": []}
    for segment in snapshot["segments"]:
        yield "segment", normal_segment(segment)
    for index, trace in enumerate(snapshot["device_traces"]):
        yield from ((f"event of {index}", normal_event(event)) for event in trace)
    yield "settings", snapshot.get("allocator_settings") or {}
    for annotation in snapshot.get("external_annotations", []):
        yield "annotation", tuple(annotation[key] for key in ["stage", "name", "device", "time_us"])
    for segment in snapshot.get("host_segments", []):
        yield "host segment", normal_segment(segment)
    for event in snapshot.get("host_traces", []):
        yield "host event", normal_event(event)


def normal_segment(segment):
    known = pick(segment, SEGMENT)
    known["pool"] = pool(segment.get("segment_pool_id"))
    known["address"] = address = segment["address"] & UNSIGNED
    known["frames"] = frames(segment)
    known["blocks"] = []
    for block in segment["blocks"]:
        history = [(entry["addr"] & UNSIGNED, entry["real_size"], frames(entry)) for entry in block.get("history", [])]
        address = block.get("address", address) & UNSIGNED
        # Before torch 2.1 the stack of a block is that of its newest history entry.
        stack = frames(block) if "frames" in block or not history else history[0][2]
        known["blocks"].append((pick(block, BLOCK), address, stack, history))
        address += block["size"]
    return known


def normal_event(event):
    where = event["device_free"] if event["action"] == "oom" else event["addr"]
    texts = [event.get(text) or "" for text in TEXTS]
    forward = "\n".join(event.get("forward_frames", []))
    numbers = event["action"], where & UNSIGNED, event["size"], event["stream"], event.get("time_us")
    return numbers, texts, forward, pool(event.get("pool_id")), frames(event)


def frames(owner):
    if "frames" not in owner:
        return None
    return [normal_frame(frame) for frame in owner["frames"]]


def normal_frame(frame):
    if id(frame) not in seen:
        seen[id(frame)] = frame, tuple(frame.get(key) for key in FRAME), frame["line"] & UNSIGNED
    return seen[id(frame)][1:]


def pool(identity):
    return identity and tuple(identity)


def pick(owner, keys):
    return {key: owner[key] for key in keys if key in owner}


def compare(original, export):
    seen.clear()
    parts = [list(normal(load(path)[0])) for path in (original, export)]
    for index, (a, b) in enumerate(zip(*parts)):
        if a != b:
            sys.exit(f"{original}: part {index} differs:\n{a}\n{b}")
    if len(parts[0]) != len(parts[1]):
        sys.exit(f"{original}: {len(parts[0])} parts and {len(parts[1])}")


if __name__ == "__main__":
    for pair in zip(sys.argv[1::2], sys.argv[2::2]):
        compare(*pair)
