"""What an allocation was made for, in the recorder's words, from either side's snapshot.

Layers stand together: `layers.*.attention.qkv · forward`.
"""

import re
from pathlib import Path

from snapshots import Event

# The paths of the libraries' modules, and what the recorder calls them; the first that fits counts.
MODULES = [
    (r"^transformer\.wte$|^model\.embed_tokens$", "embedding.token"),
    (r"^transformer\.wpe$", "embedding.position"),
    (r"^transformer\.drop$", "embedding.dropout"),
    (r"^model\.rotary_emb$", "rotary"),
    (r"^transformer\.ln_f$|^model\.norm$", "norm"),
    (r"^lm_head$", "head"),
    (r"^bert\.embeddings", "embedding"),
    (r"^bert\.encoder\.layer\.(\d+)\.(intermediate|output)", r"layers.\1.mlp.\2"),
    (r"\.mlp\.intermediate\.dense$", ".mlp.up"),
    (r"\.mlp\.intermediate\.intermediate_act_fn$", ".mlp.activation"),
    (r"^bert\.encoder\.layer", "layers"),
    (r"\.attention\.self", ".attention"),
    (r"^cls\.predictions", "head"),
    (r"^(transformer\.h|model\.layers)\.(\d+)", r"layers.\2"),
    (r"^(linear|activation|dropout)(\d+)$", r"layers.\2.\1"),
    (r"^(conv|norm|relu|gelu|sigmoid|tanh|pool|avgpool|adaptive|flatten)(\d+)$", r"layers.\2.\1"),
    (r"\.attn\.c_proj$", ".attention.out"),
    (r"\.mlp\.c_proj$", ".mlp.down"),
]
PARTS = {
    "ln_1": "attention_norm",
    "ln_2": "mlp_norm",
    "input_layernorm": "attention_norm",
    "post_attention_layernorm": "mlp_norm",
    "attn": "attention",
    "self_attn": "attention",
    "c_attn": "qkv",
    "q_proj": "q",
    "k_proj": "k",
    "v_proj": "v",
    "o_proj": "out",
    "resid_dropout": "dropout",
    "c_fc": "up",
    "act": "activation",
    "act_fn": "activation",
    "gate_proj": "gate",
    "up_proj": "up",
    "down_proj": "down",
    "word_embeddings": "token",
    "position_embeddings": "position",
    "token_type_embeddings": "token_type",
    "LayerNorm": "norm",
    "transform_act_fn": "activation",
}

# The phases of the recorder whose modules are no part of a pass.
OUTSIDE = {"setup": "parameters", "data": "data", "optimizer": "optimizer"}


def of_python(event: Event) -> str:
    """What Python allocated for; `modules.py` wrote the module into the event."""
    label = event["user_metadata"]
    path, backward, _ = label.partition(" backward")
    if label == "" or path in ("", "transformer", "model", "bert"):
        return phase_of_python(event) if not backward else "loss · backward"
    return f"{collapsed(translated(path))} · {'backward' if backward else 'forward'}"


def of_ours(event: Event) -> str:
    """What the recorder allocated for; its frames say so."""
    module = next((frame["name"] for frame in event["frames"] if frame["filename"] == "module"), "")
    phase = next((frame["name"] for frame in event["frames"] if frame["filename"] == "phase"), "")
    if phase in OUTSIDE:
        return OUTSIDE[phase]
    direction = "backward" if phase == "backward" else "forward"
    path = module.rpartition(" · ")[0]
    return f"{collapsed(path) or 'loss'} · {direction}".replace("cross_entropy ·", "loss ·")


def phase_of_python(event: Event) -> str:
    """The part of a step in which Python allocates outside of the model's modules."""
    frames = [(Path(frame["filename"]).name, frame["name"]) for frame in event.get("frames", [])]
    if ("training.py", "__init__") in frames:
        return "parameters"
    if ("training.py", "load") in frames:
        return "data"
    if ("distributed.py", "_pre_forward") in frames:
        return "ddp.bucket * · forward"
    if any(file in ("optimizer.py", "clip_grad.py", "grad_scaler.py") for file, _ in frames):
        return "optimizer"
    return "loss · forward"


def translated(path: str) -> str:
    """The recorder's path for a module of transformers."""
    for pattern, name in MODULES:
        path = re.sub(pattern, name, path)
    return ".".join(PARTS.get(part, part) for part in path.split("."))


def collapsed(path: str) -> str:
    """A path without the numbers of layers."""
    return re.sub(r"\b\d+\b", "*", path)
