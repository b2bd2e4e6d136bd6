"""Streams, events, CUDA graphs and pools."""

import torch
from torch import nn

from feature import MIB, actions, block, events, feature, snapshot, start_recording


@feature(SNAPSCOPE_VIRTUAL_GPU_EVENT_LAG="5")
def a_block_on_two_streams_is_freed_when_the_other_is_done() -> None:
    other = torch.cuda.Stream()
    start_recording()
    tensor = block(5)
    with torch.cuda.stream(other):
        tensor.fill_(1)
    tensor.record_stream(other)
    del tensor
    assert actions().count("free_requested") == 1 and "free_completed" not in actions()
    pending = [item for segment in snapshot()["segments"] for item in segment["blocks"]]
    assert [item["size"] for item in pending if item["state"] == "active_pending_free"] == [5 * MIB]
    for _ in range(10):
        torch.zeros(MIB, device="cuda")
    freed = [event["size"] for event in events() if event["action"] == "free_completed"]
    assert freed.count(5 * MIB) == 1, freed
    assert freed.index(5 * MIB) > 0, "it was done at once"


@feature(SNAPSCOPE_VIRTUAL_GPU_EVENT_LAG="1000000")
def synchronizing_completes_frees() -> None:
    other = torch.cuda.Stream()
    start_recording()
    tensor = block(5)
    tensor.record_stream(other)
    del tensor
    torch.cuda.synchronize()
    block(1)
    assert "free_completed" in actions()


@feature()
def events_measure_and_order() -> None:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    side = torch.cuda.Stream(priority=-1)
    start.record()
    with torch.cuda.stream(side):
        torch.ones(1000, device="cuda").sum()
    torch.cuda.current_stream().wait_stream(side)
    end.record()
    end.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0.0


@feature()
def graphs_capture_into_a_pool_of_their_own() -> None:
    model = nn.Linear(256, 256, device="cuda")
    data = torch.zeros(64, 256, device="cuda")
    warm_up = torch.cuda.Stream()
    warm_up.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(warm_up):
        model(data).sum().backward()
    torch.cuda.current_stream().wait_stream(warm_up)
    start_recording()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(data).sum().backward()
    graph.replay()
    private = {segment["segment_pool_id"] for segment in snapshot()["segments"]} - {(0, 0)}
    assert len(private) == 1, private
    assert "segment_alloc" in actions(), "a pool of its own takes nothing from the cache"
    again = torch.cuda.CUDAGraph()
    with torch.cuda.graph(again, pool=graph.pool()):
        model(data)
    assert {segment["segment_pool_id"] for segment in snapshot()["segments"]} - {(0, 0)} == private


@feature()
def streams_join_a_capture_by_events() -> None:
    side = torch.cuda.Stream()
    data = torch.zeros(1000, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            assert torch.cuda.is_current_stream_capturing()
            doubled = data * 2
        torch.cuda.current_stream().wait_stream(side)
        doubled += 1
    assert not torch.cuda.is_current_stream_capturing()
    graph.replay()


@feature()
def make_graphed_callables_runs_forward_and_backward() -> None:
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)).cuda()
    sample = torch.zeros(16, 64, device="cuda", requires_grad=True)
    graphed = torch.cuda.make_graphed_callables(model, (sample,))
    graphed(torch.zeros(16, 64, device="cuda", requires_grad=True)).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@feature()
def a_memory_pool_keeps_its_segments() -> None:
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        tensor = block(16)
    segments = [segment for segment in snapshot()["segments"] if tuple(segment["segment_pool_id"]) == pool.id]
    assert sum(segment["total_size"] for segment in segments) >= 16 * MIB, segments
    del tensor
    torch.cuda.empty_cache()
    assert block(16) is not None
