"""What a training script does around its loop."""

import io
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

import snapshots
from feature import MIB, events, feature, start_recording


@feature()
def importing_torch_says_nothing() -> None:
    program = "import torch; torch.zeros(1, device='cuda')"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0 and run.stderr == "" and run.stdout == "", run.stderr


@feature()
def a_loader_pins_memory() -> None:
    data = TensorDataset(torch.arange(40.0).reshape(10, 4), torch.arange(10))
    for inputs, labels in DataLoader(data, batch_size=5, pin_memory=True):
        assert inputs.is_pinned() and labels.is_pinned()
        assert inputs.sum().item() > 0, "pinned memory keeps its values"
        assert inputs.to("cuda", non_blocking=True).is_cuda


@feature()
def a_checkpoint_file_is_saved_and_loaded() -> None:
    model = nn.Linear(16, 16).cuda()
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    state = torch.load(file, map_location="cuda")
    assert state["weight"].is_cuda and not model.load_state_dict(state).missing_keys


@feature()
def a_grad_scaler_takes_steps() -> None:
    model = nn.Linear(64, 64).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        output = model(torch.zeros(8, 64, device="cuda"))
        assert output.dtype == torch.float16
        loss = output.float().sum()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    assert optimizer.state, "found_inf must read as zero, or no step is taken"


def checkpointed_peak(use_reentrant: bool | None) -> int:
    """The highest allocation of eight layers with checkpointing of either kind, or with none."""
    layers = nn.ModuleList(nn.Sequential(nn.Linear(1024, 1024), nn.GELU(), nn.Dropout(0.1)) for _ in range(8)).cuda()
    hidden = torch.zeros(4096, 1024, device="cuda", requires_grad=True)
    hidden.sum().backward()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    for layer in layers:
        hidden = layer(hidden) if use_reentrant is None else checkpoint(layer, hidden, use_reentrant=use_reentrant)
    hidden.sum().backward()
    return torch.cuda.max_memory_allocated() - before


@feature()
def checkpointing_drops_activations() -> None:
    kept = checkpointed_peak(None)
    assert checkpointed_peak(True) < 0.75 * kept and checkpointed_peak(False) < 0.75 * kept


@feature()
def the_profiler_sees_memory() -> None:
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True) as profiler:
        torch.zeros(MIB, device="cuda").mul(2)
    rows = {row.key: row for row in profiler.key_averages()}
    assert rows["aten::mul"].device_memory_usage == 4 * MIB, rows["aten::mul"]


@feature()
def optimizers_hold_the_state_that_arithmetic_says() -> None:
    weights = 1024 * 1024 * 4
    states = {"SGD": 1, "Adam": 2, "AdamW": 2, "Adagrad": 1, "RMSprop": 1, "Adadelta": 2, "NAdam": 2, "RAdam": 2}
    for name, copies in states.items():
        layer = nn.Linear(1024, 1024, bias=False).cuda()
        options = {"momentum": 0.9} if name == "SGD" else {}
        optimizer = getattr(torch.optim, name)(layer.parameters(), lr=0.1, **options)
        layer(torch.zeros(8, 1024, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        held = sum(value.nbytes for value in optimizer.state[layer.weight].values() if value.is_cuda)
        assert copies * weights <= held < copies * weights + 1024, (name, held)


@feature()
def hugging_face_trainer_takes_three_steps() -> None:
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

    model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=64, n_head=2, vocab_size=128, n_positions=32))
    samples = [{"input_ids": [1] * 32, "labels": [1] * 32}] * 12
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder, max_steps=3, per_device_train_batch_size=4, bf16=True, report_to=[], save_strategy="no"
        )
        trainer = Trainer(model, arguments, train_dataset=samples)
        assert trainer.train().global_step == 3
    assert next(model.parameters()).is_cuda


@feature()
def two_runs_give_equal_events() -> None:
    program = (
        "import torch, sys; torch.cuda.memory._record_memory_history(stacks='python');"
        "m = torch.nn.Linear(300, 300).cuda(); o = torch.optim.AdamW(m.parameters());"
        "[(m(torch.zeros(9, 300, device='cuda')).sum().backward(), o.step(), o.zero_grad()) for _ in range(3)];"
        "torch.cuda.memory._dump_snapshot(sys.argv[1])"
    )
    traces = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("first", "second"):
            path = Path(folder) / name
            subprocess.run([sys.executable, "-c", program, str(path)], check=True)
            traces.append(snapshots.events(snapshots.load(path)))
    assert len(traces[0]) > 50 and snapshots.first_difference(*traces) is None


@feature()
def tagging_modules_changes_no_event() -> None:
    import modules

    def trace(tagged: bool) -> list[snapshots.Event]:
        model = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 8)).cuda()
        if tagged:
            modules.tag(model)
        start_recording()
        for _ in range(2):
            model(torch.zeros(16, 64, device="cuda")).sum().backward()
        recorded = events()
        torch.cuda.memory._record_memory_history(enabled=None)
        return recorded

    trace(tagged=False)  # What a process allocates only once.
    plain, tagged = trace(tagged=False), trace(tagged=True)
    assert snapshots.first_difference(plain, tagged) is None
    paths = {event["user_metadata"] for event in tagged if event["action"] == "alloc"}
    assert {"0", "1", "2", "2 backward", "1 backward", "0 backward"} <= paths, paths
