"""The figures of `snapscope inspect --json`, from CPython's pickle and the definitions, as plainly as can be.

usage: python3 oracle.py FILE...

Prints one JSON document per line.
Nothing here is fast or shares an idea with the Rust code: the past is wound back with dictionaries of addresses.
"""

import base64
import gzip
import json
import pickle
import pickletools
import re
import sys
from collections import Counter

UNSIGNED = 2**64 - 1


def load(path):
    """The snapshot in a file and its format."""
    data = open(path, "rb").read()
    container = None
    if data[:2] == b"\x1f\x8b":
        container, data = "gzip", gzip.decompress(data)
    elif data.lstrip()[:1] == b"<":
        container, data = "html", base64.b64decode(re.search(rb'"base64": "([^"]*)"', data)[1])
    try:
        return json.loads(data), {"container": container or "json", "protocol": None}
    except ValueError:
        return pickle.loads(data), {"container": container or "pickle", "protocol": protocol(data)}


def protocol(data):
    """The highest protocol that an opcode of the pickle is from."""
    return max(opcode.proto if opcode.name != "PROTO" else arg for opcode, arg, _ in pickletools.genops(data))


def inspect(path):
    snapshot, format = load(path)
    if isinstance(snapshot, list):
        snapshot = {"segments": snapshot, "device_traces": []}
    traces = dict(enumerate(snapshot["device_traces"]))
    of_devices = {index: [] for index in traces}
    for segment in snapshot["segments"]:
        of_devices.setdefault(segment["device"], []).append(segment)
    document = {
        "format": format,
        "devices": [device(index, of_devices[index], traces.get(index, [])) for index in sorted(of_devices)],
        "annotations": len(snapshot.get("external_annotations", [])),
    }
    host = snapshot.get("host_segments", []), snapshot.get("host_traces", [])
    if any(host):
        document["host"] = device(-1, *host)
    stacks = set(all_stacks([*snapshot["segments"], *host[0]], [*traces.values(), host[1]]))
    document["unique_stacks"] = len(stacks - {()})
    document["unique_frames"] = len({frame for stack in stacks for frame in stack})
    return document


def all_stacks(segments, traces):
    blocks = [block for segment in segments for block in segment["blocks"]]
    entries = [entry for block in blocks for entry in block.get("history", [])]
    events = [event for trace in traces for event in trace]
    for owner in [*segments, *blocks, *entries, *events]:
        yield tuple((f["name"], f["filename"], f["line"] & UNSIGNED) for f in owner.get("frames", []))


def device(index, segments, events):
    actions = Counter(event["action"] for event in events)
    ending = "free_completed" if actions["free_completed"] else "free_requested"
    initial = wind_back(final_blocks(segments, events, ending), events, ending)
    peak, peak_event, end, unmatched = play(initial, events, ending)
    return {
        "device": index,
        "events": len(events),
        "actions": dict(actions),
        "segments": len(segments),
        "blocks": sum(len(segment["blocks"]) for segment in segments),
        "reserved_bytes": sum(segment["total_size"] for segment in segments),
        "allocated_bytes": sum(segment["allocated_size"] for segment in segments),
        "active_bytes": sum(segment["active_size"] for segment in segments),
        "initial_bytes": sum(initial.values()),
        "peak_live_bytes": peak,
        "peak_event": peak_event,
        "end_live_bytes": end,
        "peak_reserved_bytes": peak_reserved(segments, events),
        "unmatched_frees": unmatched,
    }


def final_blocks(segments, events, ending):
    """Address to live bytes of the blocks in use; not of those whose end is the last thing recorded about them."""
    last = {event["addr"] & UNSIGNED: event["action"] for event in events if event["action"] in ("alloc", ending)}
    live = {}
    for segment in segments:
        address = segment["address"]
        for block in segment["blocks"]:
            address = block.get("address", address)
            if block["state"] != "inactive" and last.get(address & UNSIGNED) != ending:
                live[address & UNSIGNED] = block.get("requested_size") or block["size"]
            address += block["size"]
    return live


def wind_back(live, events, ending):
    """What was alive before the first event."""
    live = dict(live)
    for event in reversed(events):
        if event["action"] == "alloc":
            live.pop(event["addr"] & UNSIGNED, None)
        elif event["action"] == ending:
            live[event["addr"] & UNSIGNED] = event["size"]
    return live


def play(initial, events, ending):
    """Highest live bytes, the first event after which they are reached, those at the end, and unmatched frees."""
    live = dict(initial)
    recorded = set()
    total = peak = sum(live.values())
    peak_event, unmatched = -1, 0
    for index, event in enumerate(events):
        if event["action"] == "alloc":
            address = event["addr"] & UNSIGNED
            assert address not in live, f"event {index} allocates at {address:#x}, which is in use"
            live[address] = event["size"]
            recorded.add(address)
            total += event["size"]
        elif event["action"] == ending:
            address = event["addr"] & UNSIGNED
            total -= live.pop(address)
            unmatched += address not in recorded
            recorded.discard(address)
        if total > peak:
            peak, peak_event = total, index
    assert total == sum(live.values())
    return peak, peak_event, total, unmatched


def peak_reserved(segments, events):
    """The highest sum of segments, the final one included."""
    reserved = peak = sum(segment["total_size"] for segment in segments)
    for event in reversed(events):
        if event["action"] in ("segment_alloc", "segment_map"):
            reserved -= event["size"]
        elif event["action"] in ("segment_free", "segment_unmap"):
            reserved += event["size"]
        peak = max(peak, reserved)
    return peak


if __name__ == "__main__":
    for path in sys.argv[1:]:
        print(json.dumps(inspect(path)))
