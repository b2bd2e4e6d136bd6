"""Programs that look at the device, read values, or use threads and processes."""

import threading

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from feature import GIB, MIB, block, feature, snapshot, start_recording

CAPABILITIES = {
    "t4-16gb": (7, 5),
    "v100-32gb": (7, 0),
    "rtx4090-24gb": (8, 9),
    "rtx5090-32gb": (12, 0),
    "l4-24gb": (8, 9),
    "l40s-48gb": (8, 9),
    "a100-40gb": (8, 0),
    "a100-80gb": (8, 0),
    "h100-80gb": (9, 0),
    "h200-141gb": (9, 0),
    "b200-180gb": (10, 0),
}


@feature(cards=",".join(CAPABILITIES))
def every_card_is_seen_as_itself() -> None:
    assert torch.cuda.device_count() == len(CAPABILITIES)
    for index, (card, capability) in enumerate(CAPABILITIES.items()):
        properties = torch.cuda.get_device_properties(index)
        box_gib = float(card.rpartition("-")[2].removesuffix("gb"))
        assert torch.cuda.get_device_capability(index) == capability, card
        assert card.partition("-")[0] in properties.name.lower().replace(" ", ""), (card, properties.name)
        # What the driver gives is a little less than what the box says, which counts in powers of two or of ten.
        assert 0.9 * box_gib < properties.total_memory / GIB <= box_gib, (card, properties.total_memory)
        with torch.cuda.device(index):
            assert torch.zeros(1, device="cuda").device.index == index


@feature(cards="h100-80gb")
def generation_ends() -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(n_layer=1, n_embd=32, n_head=2, vocab_size=64, n_positions=64, bos_token_id=1, eos_token_id=2)
    model = GPT2LMHeadModel(config).cuda().eval()
    tokens = model.generate(torch.ones(2, 4, dtype=torch.long, device="cuda"), max_new_tokens=8, do_sample=False)
    assert tokens.shape[1] <= 12


@feature()
def what_is_read_is_zero_and_conditions_hold() -> None:
    values = torch.zeros(100, device="cuda")
    assert values.sum().item() == 0.0 and values.tolist() == [0.0] * 100
    assert torch.equal(values, values) and torch.allclose(values, values) and not values.any()
    assert values.nonzero().numel() == 0 and torch.isfinite(values).all()
    assert values.max() == 0 and not values[0] == 5 and values[0] != 5 and not values[0] != 0
    assert (values[:1] == 0).all() and values[0] == values[1]


@feature()
def workers_load_after_the_device_is_there() -> None:
    torch.zeros(1, device="cuda")
    data = TensorDataset(torch.arange(64.0))
    loader = DataLoader(data, batch_size=8, num_workers=2, pin_memory=True, multiprocessing_context="fork")
    batches = [batch for (batch,) in loader]
    assert sorted(torch.cat(batches).tolist()) == [float(value) for value in range(64)]
    assert all(batch.cuda(non_blocking=True).is_cuda for batch in batches)


@feature()
def threads_allocate_on_streams_of_their_own() -> None:
    start_recording()
    failures: list[BaseException] = []

    def work() -> None:
        try:
            layer = nn.Linear(128, 128).cuda()
            with torch.cuda.stream(torch.cuda.Stream()):
                for _ in range(50):
                    layer(torch.zeros(32, 128, device="cuda")).sum().backward()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    assert len({segment["stream"] for segment in snapshot()["segments"]}) > 4


@feature()
def statistics_agree_with_the_snapshot() -> None:
    tensors = [block(size) for size in (0.1, 1, 3, 30)]
    del tensors[1]
    stats, segments = torch.cuda.memory_stats(), snapshot()["segments"]
    assert stats["reserved_bytes.all.current"] == sum(segment["total_size"] for segment in segments)
    assert stats["allocated_bytes.all.current"] == sum(segment["allocated_size"] for segment in segments)
    assert stats["requested_bytes.all.current"] == sum(tensor.nbytes for tensor in tensors)
    for segment in segments:
        assert sum(part["size"] for part in segment["blocks"]) == segment["total_size"]
    assert "Allocated memory" in torch.cuda.memory_summary() and torch.cuda.max_memory_reserved() >= 34 * MIB


@feature(cards="v100-32gb")
def a_card_older_than_the_wheel_sorts_and_scans() -> None:
    values = torch.zeros(10_000, device="cuda")
    values.sort()
    values.cumsum(0)
    table = torch.zeros(10, 16, device="cuda", requires_grad=True)
    tokens = torch.zeros(9_000, dtype=torch.long, device="cuda")
    nn.functional.embedding(tokens, table).sum().backward()
    assert table.grad is not None
