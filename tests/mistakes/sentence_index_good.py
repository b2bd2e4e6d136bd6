"""Embeds a corpus with a small BERT and builds an index."""
import sys
import torch
from transformers import BertConfig, BertModel


class Embedder:
    def __init__(self):
        config = BertConfig(vocab_size=8000, hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=512)
        self.model = BertModel(config, add_pooling_layer=False).to("cuda").eval()

    @torch.inference_mode()
    def encode(self, ids):
        mask = torch.ones_like(ids)
        hidden = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        return torch.nn.functional.normalize(hidden.mean(1), dim=-1)


def build_index(embedder, batches):
    vectors = []
    for i in range(batches):
        ids = torch.randint(1, 8000, (16, 96), device="cuda")
        vectors.append(embedder.encode(ids))
    return vectors


if __name__ == "__main__":
    torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
    embedder = Embedder()
    index = build_index(embedder, 10)
    print(len(index), index[0].shape)
    torch.cuda.memory._dump_snapshot(sys.argv[1])
