"""Makes the small snapshots of tests/data/snapshots whose names begin with "made-".

usage: python3 variants.py FOLDER

They hold what the collected files lack: other carriers, other protocols, the oldest layout and the rarest fields.
The same Python version writes the same bytes; the stored ones are from Python 3.11.
"""

import base64
import copy
import gzip
import json
import pickle
import sys
from pathlib import Path

# From torch/cuda/_memory_viz.py, where trace_plot fills it in.
PAGE = r"""
<!DOCTYPE html>
<html>
<head>
</head>
<body>
<script type="module">
import {add_local_files} from "https://cdn.jsdelivr.net/gh/pytorch/pytorch@main/torch/utils/viz/MemoryViz.js"
const local_files = $SNAPSHOT
add_local_files(local_files, $VIZ_KIND)
</script>
</body>
"""


def page(snapshot):
    buffer = pickle.dumps(snapshot)
    buffer += b"\x00" * (3 - len(buffer) % 3)
    files = json.dumps([{"name": "snapshot.pickle", "base64": base64.b64encode(buffer).decode("utf-8")}])
    return PAGE.replace("$VIZ_KIND", repr("Active Memory Timeline")).replace("$SNAPSHOT", files)


def bare_list(snapshot):
    """The layout of torch 1.11: a list of segments, blocks without addresses, no stacks."""
    fields = ["device", "address", "total_size", "allocated_size", "active_size", "stream", "segment_type"]
    segments = []
    for segment in snapshot["segments"]:
        old = {field: segment[field] for field in fields}
        old["blocks"] = [{"size": block["size"], "state": block["state"]} for block in segment["blocks"]]
        segments.append(old)
    return segments


def histories(snapshot):
    """The layout of torch 2.0: a history in the blocks, C++ frames beside it."""
    snapshot = {"segments": copy.deepcopy(snapshot["segments"]), "device_traces": snapshot["device_traces"]}
    for segment in snapshot["segments"]:
        for field in ["segment_pool_id", "is_expandable", "frames"]:
            segment.pop(field, None)
        for block in segment["blocks"]:
            entry = {"addr": block.pop("address"), "real_size": block.pop("requested_size")}
            frames = block.pop("frames")
            if block["state"] != "inactive":
                older = {"addr": entry["addr"], "real_size": 1, "frames": []}
                block["history"] = [{**entry, "frames": frames, "cpp_frames": []}, older]
    return snapshot


def every_field():
    """Every field that a torch since 2.0 or one of its tools writes, addresses of XPUs, and keys of the future."""
    frame = {"name": "f", "filename": "/srv/demo/a.py", "line": 3, "fx_node_op": "call_function", "fx_node_name": "add",
             "fx_node_target": "aten.add", "fx_original_trace": "x + y", "column": 7}
    library = {"name": "??", "filename": "libtorch.so", "line": 2**64 - 1}
    base = 18446720620317114368
    common = {"stream": 94360611885200, "time_us": 1795148330195564, "compile_context": "0/0", "user_metadata": "",
              "pool_id": [0, 1]}
    events = [
        {"action": "segment_alloc", "addr": base, "size": 2097152, **common, "frames": []},
        {"action": "alloc", "addr": base, "size": 1000, **common, "frames": [frame, library], "category": "gradient",
         "forward_frames": ['  File "a.py", line 3, in f\n    x + y\n', "second\n"], "future": {"a": [1, (2, None)]}},
        {"action": "annotate", "addr": base, "size": 1000, **common, "user_metadata": '{"layer": 1}'},
        {"action": "user_defined", "addr": 0, "size": 0, **common},
        {"action": "alloc", "addr": base + 1024, "size": 512, **common, "internal_metadata": "mallocWithAddress"},
        {"action": "free_requested", "addr": base + 1024, "size": 512, **common, "frames": [frame]},
        {"action": "oom", "device_free": 2**40, "size": 2**41, **common, "frames": [library]},
        {"action": "snapshot", "addr": 0, "size": 1536, **common},
    ]
    blocks = [
        {"address": base, "size": 1024, "requested_size": 1000, "state": "active_allocated", "frames": [frame, library]},
        {"address": base + 1024, "size": 512, "requested_size": 512, "state": "active_pending_free", "frames": [frame]},
        {"address": base + 1536, "size": 2095616, "requested_size": 7, "state": "inactive", "frames": [], "future": 1},
    ]
    segment = {"device": 1, "address": base, "total_size": 2097152, "allocated_size": 1024, "active_size": 1536,
               "requested_size": 1512, "stream": 94360611885200, "segment_type": "small", "segment_pool_id": [0, 1],
               "is_expandable": False, "frames": [], "blocks": blocks, "future": "value"}
    annotations = [{"name": "ProfilerStep#1", "stage": stage, "device": 1, "time_us": 1795148330195560 + after}
                   for stage, after in [("START", 0), ("END", 9)]]
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "garbage_collection_threshold:0.8", "garbage_collection_threshold": 0.8,
                "max_split_size": -1, "expandable_segments": True, "roundup_power2_divisions": {"1": 0, "2": 4}}
    return {"segments": [segment], "device_traces": [[], events], "allocator_settings": settings,
            "external_annotations": annotations, "future": [{"deep": [[[]]]}]}


def main(folder):
    with gzip.open(folder / "torch2.15-basic-py311.pickle.gz") as file:
        snapshot = pickle.load(file)
    for protocol in [0, 1, 2, 3, 5]:
        (folder / f"made-protocol{protocol}.pickle").write_bytes(pickle.dumps(snapshot, protocol))
    (folder / "made-json.json").write_text(json.dumps(snapshot))
    (folder / "made-trace-plot.html").write_text(page(snapshot))
    (folder / "made-bare-list.pickle").write_bytes(pickle.dumps(bare_list(snapshot), 4))
    (folder / "made-histories.pickle").write_bytes(pickle.dumps(histories(snapshot), 4))
    (folder / "made-every-field.pickle").write_bytes(pickle.dumps(every_field(), 5))
    (folder / "made-bytes-after-stop.pickle").write_bytes(pickle.dumps(snapshot, 4) + b"\n")
    empty = {"segments": [], "device_traces": [], "allocator_settings": {}, "external_annotations": []}
    (folder / "made-no-gpu.pickle").write_bytes(pickle.dumps(empty, 4))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
