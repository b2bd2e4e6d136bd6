"""Limits and settings of the caching allocator."""

import re

import torch

from feature import GIB, MIB, actions, block, events, feature, message_of, snapshot, start_recording


@feature(cards="t4-16gb")
def out_of_memory_says_what_it_asked_for() -> None:
    start_recording()
    kept = block(10 * 1024)
    text = message_of(torch.OutOfMemoryError, lambda: block(8 * 1024))
    total = torch.cuda.get_device_properties(0).total_memory
    assert "CUDA out of memory. Tried to allocate 8.00 GiB." in text, text
    assert f"GPU 0 has a total capacity of {total / GIB:.2f} GiB of which" in text, text
    assert re.search(r"Including non-PyTorch memory, this process has \d+\.\d+ GiB memory in use", text), text
    assert "Of the allocated memory 10.00 GiB is allocated by PyTorch" in text, text
    oom = [event for event in events() if event["action"] == "oom"]
    assert [event["size"] for event in oom] == [8 * GIB], oom
    assert oom[0]["device_free"] == torch.cuda.mem_get_info()[0] < total - 10 * GIB
    assert torch.cuda.memory_stats()["num_ooms"] == 1
    del kept


@feature(cards="t4-16gb")
def a_failed_request_frees_the_cache_and_tries_again() -> None:
    start_recording()
    cached = block(9 * 1024)
    del cached
    block(10 * 1024)
    assert actions().index("segment_free") < len(actions()) - 1 - actions()[::-1].index("segment_alloc")
    stats = torch.cuda.memory_stats()
    assert stats["num_alloc_retries"] == 1 and stats["num_ooms"] == 0, stats["num_alloc_retries"]


@feature(cards="h100-80gb")
def memory_fraction_limits_the_process() -> None:
    torch.cuda.set_per_process_memory_fraction(0.1)
    text = message_of(torch.OutOfMemoryError, lambda: block(20 * 1024))
    allowed = torch.cuda.get_device_properties(0).total_memory * 0.1
    assert f"{allowed / GIB:.2f} GiB allowed" in text, text


@feature(cards="custom:48GiB")
def memory_ends_to_the_page() -> None:
    free, total = torch.cuda.mem_get_info()
    assert total == 48 * GIB, total
    usable = free // (2 * MIB) * 2 * MIB
    whole = torch.empty(usable, dtype=torch.uint8, device="cuda")
    message_of(torch.OutOfMemoryError, lambda: block(1))
    del whole
    torch.cuda.empty_cache()
    assert torch.cuda.mem_get_info()[0] == free


@feature()
def empty_cache_gives_segments_back() -> None:
    start_recording()
    before = torch.cuda.mem_get_info()[0]
    tensors = [block(30) for _ in range(4)]
    assert before - torch.cuda.mem_get_info()[0] == 120 * MIB
    del tensors
    assert torch.cuda.memory_reserved() == 120 * MIB
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == 0 and torch.cuda.mem_get_info()[0] == before
    assert actions().count("segment_free") == 4


@feature(PYTORCH_ALLOC_CONF="expandable_segments:True")
def expandable_segments_map_and_unmap() -> None:
    start_recording()
    tensors = [block(30) for _ in range(3)]
    segments = snapshot()["segments"]
    assert [segment["is_expandable"] for segment in segments] == [True], segments
    del tensors
    torch.cuda.empty_cache()
    seen = actions()
    assert "segment_map" in seen and "segment_unmap" in seen and "segment_alloc" not in seen, seen


@feature(cards="t4-16gb", PYTORCH_ALLOC_CONF="expandable_segments:True")
def expandable_segments_run_out_of_memory() -> None:
    start_recording()
    kept = [block(5 * 1024), block(5 * 1024)]
    text = message_of(torch.OutOfMemoryError, lambda: block(5 * 1024))
    assert "Tried to allocate 5.00 GiB" in text, text
    assert actions().count("oom") == 1
    assert len(kept) == 2 and torch.cuda.memory_allocated() == 10 * GIB


@feature(cards="custom:10GiB", PYTORCH_ALLOC_CONF="garbage_collection_threshold:0.5")
def garbage_collection_frees_what_lies_unused() -> None:
    # Without a limit PyTorch collects nothing, and all of the memory is no limit.
    torch.cuda.set_per_process_memory_fraction(0.99)
    start_recording()
    tensors = [block(1024) for _ in range(6)]
    del tensors
    block(1500)
    assert actions().count("segment_free") >= 1, actions()
    assert torch.cuda.memory_stats()["num_alloc_retries"] == 0


@feature(PYTORCH_ALLOC_CONF="max_split_size_mb:64")
def large_blocks_are_not_split() -> None:
    first = block(200)
    del first
    second = block(100)
    assert torch.cuda.memory_reserved() == 300 * MIB, torch.cuda.memory_reserved()
    del second
    assert snapshot()["allocator_settings"]["max_split_size"] == 64 * MIB


@feature(PYTORCH_ALLOC_CONF="roundup_power2_divisions:4")
def sizes_round_up_to_parts_of_powers_of_two() -> None:
    tensor = block(1025)
    assert torch.cuda.memory_allocated() == 1280 * MIB, torch.cuda.memory_allocated()
    del tensor


@feature(PYTORCH_ALLOC_CONF="backend:cudaMallocAsync")
def the_driver_allocates_for_itself() -> None:
    assert torch.cuda.memory.get_allocator_backend() == "cudaMallocAsync"
    tensor = block(64)
    tensor.fill_(1)
    assert torch.cuda.memory_allocated() == 64 * MIB
