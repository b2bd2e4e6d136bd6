"""Loads a checkpoint and answers one prompt in half precision."""
import sys
import torch
from transformers import LlamaConfig, LlamaForCausalLM


def load(config, device):
    torch.set_default_dtype(torch.float16)
    with torch.device(device):
        model = LlamaForCausalLM(config)
    torch.set_default_dtype(torch.float32)
    return model.eval()


@torch.no_grad()
def next_token(model, ids):
    return model(input_ids=ids).logits[:, -1].argmax(-1)


def main():
    torch.cuda.memory._record_memory_history(max_entries=100000)
    config = LlamaConfig(vocab_size=32000, hidden_size=2048, intermediate_size=5632, num_hidden_layers=6, num_attention_heads=16, num_key_value_heads=16)
    model = load(config, "cuda")
    prompt = torch.randint(0, 32000, (1, 64), device="cuda")
    for _ in range(3):
        print(next_token(model, prompt).item())
    torch.cuda.memory._dump_snapshot(sys.argv[1])


main()
