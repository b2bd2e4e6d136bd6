//! Suggests the known name that a misspelt one was meant to be.

/// Returns `did you mean `hidden`?` for the known name nearest to a text, if one is near enough.
pub(super) fn did_you_mean<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    nearest(text, known).map(|name| format!("did you mean `{name}`?"))
}

/// Returns the same for a key, which may also be the name that other tools use.
pub(super) fn did_you_mean_key(key: &str, known: &[&str]) -> Option<String> {
    let of_others = SYNONYMS.iter().find(|(_, names)| names.contains(&key.to_lowercase().as_str()));
    let name = of_others.map(|(name, _)| *name).filter(|name| known.contains(name));
    name.or_else(|| nearest(key, known.iter().copied())).map(|name| format!("did you mean `{name}`?"))
}

/// Returns the name in a hint of [`did_you_mean`].
pub(super) fn meant(hint: &str) -> Option<&str> {
    hint.strip_prefix("did you mean `")?.strip_suffix("`?")
}

/// Keys of a config, and the names that PyTorch, Hugging Face and others use for them.
const SYNONYMS: &[(&str, &[&str])] = &[
    (
        "sequence",
        &["seq", "seqlen", "seq_len", "seq_length", "max_seq_len", "max_seq_length", "block_size", "context_length"],
    ),
    ("batch", &["bs", "batch_size", "micro_batch", "micro_batch_size", "per_device_train_batch_size"]),
    ("steps", &["max_steps", "num_steps", "iterations", "iters"]),
    ("accumulation", &["grad_accum", "gradient_accumulation", "gradient_accumulation_steps"]),
    ("precision", &["dtype", "torch_dtype", "amp", "autocast", "mixed_precision"]),
    ("checkpointing", &["gradient_checkpointing", "activation_checkpointing", "recompute"]),
    ("clip_grad_norm", &["max_grad_norm", "grad_clip", "gradient_clip_val"]),
    ("card", &["gpu", "gpus", "accelerator"]),
    ("optimizer", &["optim"]),
    ("allocator", &["pytorch_cuda_alloc_conf", "alloc_conf"]),
    ("learning_rate", &["lr"]),
    ("weight_decay", &["wd"]),
    ("epsilon", &["eps", "adam_epsilon"]),
    ("kind", &["type"]),
    ("hidden", &["hidden_size", "n_embd", "d_model", "dim", "embed_dim"]),
    ("layers", &["n_layer", "n_layers", "num_layers", "num_hidden_layers"]),
    ("heads", &["n_head", "n_heads", "num_heads", "num_attention_heads"]),
    ("kv_heads", &["n_kv_heads", "num_key_value_heads"]),
    ("vocabulary", &["vocab", "vocab_size"]),
    ("intermediate", &["intermediate_size", "ffn_dim", "d_ff", "n_inner"]),
    ("max_positions", &["n_positions", "max_position_embeddings"]),
    ("classes", &["num_classes", "num_labels"]),
    ("rank", &["r"]),
    ("alpha", &["lora_alpha"]),
    ("targets", &["target_modules"]),
];

/// Returns the known name that a text most likely stands for.
///
/// A name is near if at most a third of the longer of the two would have to change, or if it starts with the text and
/// the text has at least 3 characters.
/// Of two equally near names the first wins.
pub(super) fn nearest<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let text = text.chars().take(LONGEST).flat_map(char::to_lowercase).collect::<Vec<_>>();
    let rated = known.filter_map(|name| {
        let name_chars = name.chars().collect::<Vec<_>>();
        let far = distance(&text, &name_chars);
        let is_start = text.len() >= 3 && name_chars.starts_with(&text);
        (is_start || far * 3 <= text.len().max(name_chars.len())).then_some((far, name))
    });
    rated.min_by_key(|(far, _)| *far).map(|(_, name)| name)
}

/// Number of characters of a text that are compared; all known names are shorter.
const LONGEST: usize = 48;

/// Returns the number of insertions, deletions, substitutions and swaps of neighbours that turn one text into the
/// other.
///
/// This is the optimal string alignment distance, computed in O(a·b) time with three rows of memory.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut above = (0..=b.len()).collect::<Vec<_>>();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substituted = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = substituted.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 6] = ["hidden", "heads", "layers", "learning_rate", "t4-16gb", "gpt2"];

    #[track_caller]
    fn check<'a>(text: &str, expected: impl Into<Option<&'a str>>) {
        assert_eq!(nearest(text, KNOWN.into_iter()), expected.into());
    }

    #[test]
    fn slips_are_forgiven() {
        check("hiden", "hidden");
        check("hdiden", "hidden");
        check("Layer", "layers");
        check("learningrate", "learning_rate");
        check("learn", "learning_rate");
        check("t4", None);
        check("colour", None);
        check("", None);
        check(&"hidden".repeat(1000), None);
    }

    #[test]
    fn other_peoples_names_are_known() {
        let keys = ["sequence", "batch", "learning_rate"];
        assert_eq!(did_you_mean_key("seqlen", &keys).as_deref(), Some("did you mean `sequence`?"));
        assert_eq!(did_you_mean_key("LR", &keys).as_deref(), Some("did you mean `learning_rate`?"));
        assert_eq!(did_you_mean_key("n_layer", &keys), None);
        assert_eq!(meant("did you mean `batch`?"), Some("batch"));
        assert_eq!(meant("write it"), None);
    }

    #[test]
    fn swaps_count_once() {
        let distance = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(distance("heads", "haeds"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}
