//! Identifies training configs by their keys, and reads the keys of TOML and YAML texts.

use super::kinds::{self, Kind};

/// Keys of our own configs; a test of the whole project compares them with the real ones.
pub(super) const OUR_KEYS: &[&str] = &[
    "accumulation",
    "allocator",
    "batch",
    "card",
    "checkpointing",
    "clip_grad_norm",
    "data",
    "device",
    "evaluation",
    "grad_scaler",
    "keep_outputs",
    "lora",
    "loss",
    "memory_fraction",
    "model",
    "name",
    "offload_activations",
    "optimizer",
    "parallel",
    "precision",
    "sequence",
    "set_to_none",
    "steps",
    "sweep",
];

/// Keys that mark Hugging Face's config of a model.
const MODEL_KEYS: &[&str] = &["model_type", "architectures"];

/// Keys of `TrainingArguments`, and of tools that use the same keys in their own configs.
const ARGUMENT_KEYS: &[&str] = &[
    "per_device_train_batch_size",
    "per_device_eval_batch_size",
    "gradient_accumulation_steps",
    "gradient_checkpointing",
    "num_train_epochs",
    "output_dir",
    "lr_scheduler_type",
    "warmup_ratio",
    "warmup_steps",
    "max_grad_norm",
    "learning_rate",
    "weight_decay",
    "micro_batch_size",
    "logging_steps",
    "save_steps",
    "eval_strategy",
    "optim",
    "bf16",
    "fp16",
];

/// Returns the kind of a table with these keys, if it belongs to a training.
pub(super) fn kind<'a>(keys: impl Iterator<Item = &'a str> + Clone) -> Option<&'static Kind> {
    let count = |known: &[&str]| keys.clone().filter(|key| known.contains(key)).count();
    let all = keys.clone().count();
    if count(MODEL_KEYS) > 0 {
        Some(kinds::CONFIG)
    } else if count(ARGUMENT_KEYS) >= 2 {
        Some(kinds::TRAINING_ARGUMENTS)
    } else if is_ours(count(OUR_KEYS), all, keys.clone().any(|key| key == "model")) {
        Some(kinds::CONFIG)
    } else {
        None
    }
}

/// Returns true if the keys look like our own config.
///
/// Two known keys may occur in any file, so that a config must have a model or few other keys.
fn is_ours(known: usize, all: usize, has_model: bool) -> bool {
    (has_model && (known >= 2 || all == 1)) || (known >= 2 && known * 2 >= all)
}

/// Returns the outermost keys of a TOML or YAML text, or `None` for other texts.
pub(super) fn keys_of(text: &str) -> Option<Vec<&str>> {
    const MOST_LINES: usize = 400;
    let lines = text.lines().take(MOST_LINES).filter(|line| !is_blank(line));
    let (mut keys, mut other, mut is_within) = (Vec::new(), 0_usize, false);
    for line in lines {
        match outermost(line) {
            // Keys that follow a `[table]` of TOML belong to the table.
            Some(Line::Table(name)) => {
                keys.push(name);
                is_within = true;
            }
            Some(Line::Key(_)) if is_within => {}
            Some(Line::Key(name)) => keys.push(name),
            Some(Line::Inner) => {}
            None => other += 1,
        }
    }
    (!keys.is_empty() && other * 4 <= keys.len()).then_some(keys)
}

enum Line<'a> {
    Table(&'a str),
    Key(&'a str),
    /// Continues the line before.
    Inner,
}

fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#') || line == "---" || line == "..."
}

fn outermost(line: &str) -> Option<Line<'_>> {
    if let Some(table) = line.strip_prefix('[') {
        let name = table.trim_start_matches('[').split([']', '.']).next()?.trim();
        return is_name(name).then_some(Line::Table(name));
    }
    if line.starts_with([' ', '\t', ']', '}', '-']) {
        return Some(Line::Inner);
    }
    let (name, value) = line.split_once(['=', ':'])?;
    let is_toml = line.as_bytes()[name.len()] == b'=';
    // YAML requires a blank behind the colon; a comparison or a `::` is no assignment.
    let fits = if is_toml { !value.starts_with('=') } else { value.is_empty() || value.starts_with([' ', '\t']) };
    let name = name.trim().trim_matches(['"', '\'']);
    let name = if is_toml { name.split('.').next()? } else { name };
    (fits && is_name(name)).then_some(Line::Key(name))
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !name.is_empty() && name.chars().all(is_part) && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, code: Option<&str>) {
        let found = keys_of(text).and_then(|keys| kind(keys.into_iter()));
        assert_eq!(found.map(|kind| kind.code), code, "{text}");
    }

    #[test]
    fn configs_in_each_language() {
        check("# mine\nmodel = \"gpt2\"\nbatch = 4\n", Some("training-config"));
        check("[model]\npreset = \"gpt2\"\n", Some("training-config"));
        check("model.preset = 'gpt2'\nsequence = 512\n", Some("training-config"));
        check("model:\n  family: mlp\n  hidden: 64\nsteps: 3\n", Some("training-config"));
        check("modle = \"gpt2\"\nbatch = 4\nsequence = 512\n", Some("training-config"));
        check("per_device_train_batch_size: 4\nbf16: true\noutput_dir: out\n", Some("training-arguments"));
    }

    #[test]
    fn other_texts_are_none() {
        check("[project]\nname = \"x\"\nversion = \"1\"\n[tool.ruff]\nline-length = 100\n", None);
        check("services:\n  web:\n    image: x\n", None);
        check("Epoch 1: loss 2.5\nEpoch 2: loss 2.4\n", None);
        check("12:04:01 INFO step: 4\n12:04:02 INFO step: 5\n", None);
        check("a sentence of words\n", None);
        check("", None);
    }
}
