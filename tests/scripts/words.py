"""A small model with a tokenizer of made-up words, for the scripts of TRL."""

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

COUNT = 2000


def tokenizer():
    words = {f"w{number}": number for number in range(COUNT)}
    words |= {"[UNK]": COUNT, "[PAD]": COUNT + 1, "[EOS]": COUNT + 2}
    made = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", eos_token="[EOS]")


def model():
    size = {"hidden_size": 512, "intermediate_size": 1408, "num_hidden_layers": 4, "num_attention_heads": 8}
    return LlamaForCausalLM(LlamaConfig(vocab_size=2048, **size))


def text(seed, length):
    return " ".join(f"w{(seed * 7 + place) % COUNT}" for place in range(length))
