"""Programs whose peaks on real GPUs were published; `rows.py NAME WORDS…` runs one and prints its figures in bytes.

Each is written after its source, which published.py names: random tokens in place of data, and a folder with nothing
but a config in place of a model.
"""

import statistics
import sys
import tempfile

import torch

device = "cuda:0"


def show(name, size):
    print(f"figure {name} {int(size)}", flush=True)


def peak():
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated()


def pretrained(kind, config, **options):
    """Loads a model from a folder in which there is only its config."""
    config.architectures = [kind.__name__]
    with tempfile.TemporaryDirectory() as folder:
        config.save_pretrained(folder)
        return kind.from_pretrained(folder, dtype=torch.bfloat16, attn_implementation="sdpa", **options)


def sft(size, length, *words):
    """One optimizer step of Qwen3.5 as FakeGPU's qwen_sft_memory_worker.py makes it."""
    from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig

    hidden, inner = {"0.8b": (1024, 3584), "2b": (2048, 6144)}[size]
    config = Qwen3_5TextConfig(
        hidden_size=hidden,
        intermediate_size=inner,
        num_hidden_layers=24,
        num_attention_heads=8,
        num_key_value_heads=2,
        linear_num_value_heads=16,
        tie_word_embeddings=True,
    )
    length, steps = int(length), 2 if "twice" in words else 1
    model = pretrained(Qwen3_5ForCausalLM, config)
    model.config.use_cache = False
    if "lora" in words:
        from peft import LoraConfig, get_peft_model

        lora = LoraConfig(r=8, lora_alpha=16, lora_dropout=0.0, task_type="CAUSAL_LM", target_modules="all-linear")
        model = get_peft_model(model, lora)
    if "checkpoint" in words:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        if "lora" in words:
            model.enable_input_require_grads()
    model.train().to(device)
    batches = []
    for _ in range(steps):
        tokens = torch.randint(100, config.vocab_size, (1, length))
        labels = tokens.clone()
        labels[:, : length // 2] = -100
        places = torch.arange(length).view(1, 1, length).expand(3, 1, length).clone()
        batches.append({"input_ids": tokens, "labels": labels, "position_ids": places})
    batches = [{name: tensor.to(device) for name, tensor in batch.items()} for batch in batches]
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-5, foreach=False)
    torch.cuda.reset_peak_memory_stats()
    for step, batch in enumerate(batches, 1):
        outputs = model(**batch, use_cache=False)
        loss = outputs.loss / steps
        loss.backward()
        loss.detach().float().cpu().item()
        if step < steps:
            del outputs, loss
    optimizer.step()
    show("allocated", peak())


def decode():
    """Two tokens of Qwen3-8B after a prompt of nine, as FakeGPU's qwen_inference_memory_worker.py makes them."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(hidden_size=4096, intermediate_size=12288, num_hidden_layers=36, num_key_value_heads=8)
    model = pretrained(Qwen3ForCausalLM, config, device_map=device).eval()
    show("loaded", torch.cuda.memory_allocated())
    torch.cuda.reset_peak_memory_stats()
    tokens = torch.randint(100, config.vocab_size, (1, 9)).to(device)
    mask = torch.ones(1, 9, dtype=torch.long).to(device)
    with torch.inference_mode():
        outputs = model(input_ids=tokens, attention_mask=mask, use_cache=True)
        following = torch.argmax(outputs.logits[:, -1, :], dim=-1, keepdim=True)
        following.item()
        mask = torch.cat([mask, torch.ones((1, 1), dtype=mask.dtype, device=device)], dim=1)
        past = outputs.past_key_values
        outputs = model(input_ids=following, attention_mask=mask, past_key_values=past, use_cache=True)
    show("allocated", peak())


def median_of(step):
    """Returns the median peak of ten steps, as Liger's _test_memory does."""
    peaks = []
    for _ in range(10):
        torch.cuda.reset_peak_memory_stats()
        step()
        peaks.append(torch.cuda.max_memory_allocated())
    return statistics.median(peaks)


def linear_cross_entropy(tokens):
    """Liger's benchmark_fused_linear_cross_entropy.py, provider huggingface: both providers' layers are there."""
    hidden, words, tokens = 4096, 128256, int(tokens)
    heads = [torch.nn.Linear(hidden, words, bias=False, dtype=torch.bfloat16).to(device) for _ in range(2)]
    batch = torch.randn(tokens, hidden, requires_grad=True, dtype=torch.bfloat16, device=device)
    target = torch.randint(words, (tokens, 1), dtype=torch.long, device=device).squeeze(1)
    loss = torch.nn.CrossEntropyLoss()
    show("allocated", median_of(lambda: loss(heads[0](batch), target).backward()))


def geglu(length):
    """Liger's benchmark_geglu.py, provider huggingface."""
    from transformers.models.llama.modeling_llama import LlamaConfig, LlamaMLP

    config = LlamaConfig(hidden_size=4096, intermediate_size=11008, hidden_act="gelu_pytorch_tanh")
    batch = torch.randn(8, int(length), 4096, device=device, dtype=torch.bfloat16, requires_grad=True)
    layer = LlamaMLP(config=config).to(device).to(torch.bfloat16)

    def full():
        result = layer(batch)
        result.backward(torch.randn_like(result), retain_graph=True)

    show("allocated", median_of(full))


def experts(tokens):
    """Liger's benchmark_fused_moe.py, provider huggingface: Qwen3-30B-A3B's experts, one after the other."""
    functional, count, hidden, inner, chosen = torch.nn.functional, 128, 2048, 768, 8

    def made(*shape):
        return torch.randn(*shape, dtype=torch.bfloat16, device=device, requires_grad=True)

    batch = made(int(tokens), hidden)
    gate_up, down = made(count, 2 * inner, hidden) * 0.02, made(count, hidden, inner) * 0.02
    logits = torch.randn(int(tokens), count, device=device)
    choice = torch.topk(logits, chosen, dim=-1).indices.to(torch.int32)
    weights = torch.softmax(torch.gather(logits, 1, choice.long()), dim=-1).to(torch.bfloat16).requires_grad_(True)

    def forward():
        final = torch.zeros_like(batch)
        with torch.no_grad():
            mask = functional.one_hot(choice.long(), num_classes=count).permute(2, 1, 0)
            hit = torch.greater(mask.sum(dim=(-1, -2)), 0).nonzero()
        for (expert,) in hit:
            places, tokens_of = torch.where(mask[expert])
            gate, up = functional.linear(batch[tokens_of], gate_up[expert]).chunk(2, dim=-1)
            current = functional.linear(functional.silu(gate) * up, down[expert])
            current = current * weights[tokens_of, places, None]
            final.index_add_(0, tokens_of, current.to(final.dtype))
        return final

    def full():
        result = forward()
        result.backward(torch.randn_like(result), retain_graph=True)

    show("allocated", median_of(full))


def balance(tokens):
    """The load-balancing loss alone, in the shape of Qwen3-30B-A3B."""
    from transformers.models.qwen3_moe.modeling_qwen3_moe import load_balancing_loss_func

    gates = tuple(torch.randn(int(tokens), 128, dtype=torch.bfloat16, device=device) for _ in range(48))
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    load_balancing_loss_func(gates, 128, 8)
    show("allocated", peak() - before)


def cycles():
    """Blocks of 91, 45.5 and 2 MiB in turn, of which the last stay; 64 MiB are there before."""
    kept, mib = [torch.empty(64 << 20, dtype=torch.uint8, device=device)], 1 << 20
    for cycle in range(101):
        large = [torch.empty(size, dtype=torch.uint8, device=device) for size in (91 * mib, 91 * mib // 2)]
        kept.append(torch.empty(2 * mib, dtype=torch.uint8, device=device))
        del large
        if cycle % 20 == 0:
            show(f"reserved-{cycle}", torch.cuda.memory_reserved())
            show(f"allocated-{cycle}", torch.cuda.memory_allocated())


def pinned(size):
    torch.cuda.init()
    torch.empty(int(float(size) * 2**30), dtype=torch.uint8).pin_memory()
    show("pinned", torch.cuda.host_memory_stats()["allocated_bytes.peak"])


def convolution(kind, inner, outer, *shape):
    """One convolution of three dimensions without gradients; what does not fit is told by the error."""
    kind = getattr(torch, kind)
    with torch.no_grad():
        layer = torch.nn.Conv3d(int(inner), int(outer), 3, padding=1, device=device, dtype=kind)
        batch = torch.rand(1, int(inner), *map(int, shape), dtype=kind, device=device)
        try:
            layer(batch)
        except torch.OutOfMemoryError as error:
            asked = str(error).split("Tried to allocate ")[1].split(" GiB")[0]
            show("asked", float(asked) * 2**30)
    show("allocated", peak())


globals()[sys.argv[1]](*sys.argv[2:])
