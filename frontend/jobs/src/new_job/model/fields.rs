//! Fields of the config form: their keys, the values that they allow, and their current values.

use serde_json::Value;
use shared::job::{Card, Job, Model, RawJob, bounds, words};
use std::ops::RangeInclusive;

/// Control that sets a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// Choice of one word.
    Words(Vec<Choice>),
    /// Whole number within bounds.
    Whole(RangeInclusive<u64>),
    /// Checkbox; the key is left out if it is not checked.
    Flag,
    /// Line of text.
    Line,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// Word in the config.
    pub word: String,
    pub label: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Path of the config key.
    pub path: &'static str,
    pub label: &'static str,
    pub control: Control,
    /// Example of a value, for a field of several values.
    pub example: &'static str,
}

/// Fields below a heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub title: &'static str,
    /// True if the group is collapsed at first.
    pub is_folded: bool,
    pub fields: Vec<Field>,
}

/// Returns the groups of the form: keys that most trainings set, then those that some do.
pub(crate) fn form() -> Vec<Group> {
    let group = |title, is_folded, fields: &[(&'static str, &'static str)]| Group {
        title,
        is_folded,
        fields: fields.iter().map(|(path, label)| Field { path, label, control: control(path), example: "" }).collect(),
    };
    vec![
        group("Model", false, &[("model.preset", "Model"), ("batch", "Batch"), ("sequence", "Sequence")]),
        group(
            "Training",
            false,
            &[
                ("precision", "Precision"),
                ("optimizer.kind", "Optimizer"),
                ("optimizer.implementation", "Implementation"),
                ("steps", "Steps"),
                ("accumulation", "Accumulation"),
                ("checkpointing", "Checkpointing"),
            ],
        ),
        group(
            "More",
            true,
            &[
                ("name", "Name"),
                ("model.attention", "Attention"),
                ("allocator", "Allocator settings"),
                ("offload_activations", "Offload activations"),
                ("lora.rank", "LoRA rank"),
                ("evaluation.every", "Evaluate every … steps"),
            ],
        ),
    ]
}

/// Returns the fields of a sweep, each with several values.
pub(crate) fn ranges() -> Group {
    let field = |(path, label, example)| Field { path, label, control: Control::Line, example };
    let fields = [
        ("sweep.batch", "Batches", "1..16x2"),
        ("sweep.sequence", "Sequences", "512,1024,2048"),
        ("sweep.precision", "Precisions", "fp32,autocast-bf16"),
        ("sweep.checkpointing", "Checkpointing", "on,off"),
    ];
    Group { title: "Ranges of the sweep", is_folded: false, fields: fields.map(field).to_vec() }
}

/// Returns the available cards with their memory.
pub(crate) fn cards() -> Vec<Choice> {
    let choice = |card: Card| {
        let memory = shared::base::format::bytes(card.memory_bytes);
        Choice { label: format!("{} · {memory}", card.name), word: card.name }
    };
    Card::all().map(choice).collect()
}

fn control(path: &'static str) -> Control {
    match path {
        "checkpointing" | "offload_activations" => Control::Flag,
        "model.preset" => Control::Words(words(path).into_iter().map(preset).collect()),
        _ => match bounds(path) {
            Some(bounds) => Control::Whole(bounds),
            None if words(path).is_empty() => Control::Line,
            None => Control::Words(words(path).into_iter().map(plain).collect()),
        },
    }
}

fn plain(word: &str) -> Choice {
    Choice { word: word.to_owned(), label: word.to_owned() }
}

fn preset(name: &str) -> Choice {
    let parameters = Model::preset(name).map_or(0, |model| model.parameters());
    Choice { word: name.to_owned(), label: format!("{name} · {}", short_count(parameters)) }
}

/// Formats a count with three significant digits, as models are named: `124 M`, `1.56 B`.
fn short_count(count: u64) -> String {
    let (value, unit) = if count < 1_000_000_000 { (count as f64 / 1e6, "M") } else { (count as f64 / 1e9, "B") };
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$} {unit}")
}

/// Values of the fields: those written in the config, and the defaults of the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Values {
    written: Value,
    effective: Value,
}

impl Values {
    /// Returns the values of a config and of the job that it resolves to.
    pub(crate) fn of(raw: Option<&RawJob>, job: Option<&Job>) -> Self {
        let json = |raw: &RawJob| serde_json::to_value(raw).unwrap_or_default();
        Self {
            written: raw.map(json).unwrap_or_default(),
            effective: job.map(|job| json(&job.to_raw())).unwrap_or_default(),
        }
    }

    /// Returns the value that is written for a key as text; empty if there is none.
    pub(crate) fn written(&self, path: &str) -> String {
        find(&self.written, path).map(text).unwrap_or_default()
    }

    /// Returns the value in effect for a key as text, with defaults applied; empty if there is none.
    pub(crate) fn default(&self, path: &str) -> String {
        find(&self.effective, path).map(text).unwrap_or_default()
    }

    /// Returns the value in effect for a key that the config leaves out.
    pub(crate) fn assumed(&self, path: &str) -> Option<String> {
        let default = self.default(path);
        (find(&self.written, path).is_none_or(Value::is_null) && !default.is_empty()).then_some(default)
    }

    /// Returns the label of the choice to leave a key out: `adamw (default)`, or `Not set` if the default is unknown.
    ///
    /// A model that the config describes itself is `custom transformer`.
    pub(crate) fn unset(&self, path: &str) -> String {
        let family = self.default("model.family");
        if path == "model.preset" && self.written(path).is_empty() && !family.is_empty() {
            return format!("custom {family}");
        }
        let default = if self.written(path).is_empty() { self.default(path) } else { String::new() };
        if default.is_empty() { "Not set".to_owned() } else { format!("{default} (default)") }
    }

    /// Returns true if a flag is set; a table counts as set.
    pub(crate) fn is_on(&self, path: &str) -> bool {
        find(&self.written, path).is_some_and(|value| *value == Value::Bool(true) || value.is_object())
    }
}

fn find<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    value.pointer(&format!("/{}", path.replace('.', "/")))
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Object(_) | Value::Array(_) => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(config: &str) -> Values {
        let raw = RawJob::from_toml(config).unwrap();
        let job = raw.clone().resolve().unwrap();
        Values::of(Some(&raw), Some(&job))
    }

    #[test]
    fn fields_hold_what_is_written() {
        let values = values("model = \"gpt2\"\nbatch = 4\ncheckpointing = { every = 2 }");
        assert_eq!(["model.preset", "batch", "optimizer.kind"].map(|path| values.written(path)), ["gpt2", "4", ""]);
        assert_eq!(["optimizer.kind", "sequence"].map(|path| values.default(path)), ["adamw", "1024"]);
        let unset = ["optimizer.kind", "model.preset"].map(|path| values.unset(path));
        assert_eq!(unset, ["adamw (default)", "Not set"]);
        let assumed = |path| values.assumed(path).unwrap_or_default();
        assert_eq!(["precision", "batch"].map(assumed), ["fp32", ""]);
        assert!(values.is_on("checkpointing") && !values.is_on("offload_activations"));
    }

    #[test]
    fn a_model_of_its_own_sizes_is_named_by_its_family() {
        let values = values("[model]\nfamily = \"mlp\"\ninput = 64\nhidden = [64]\nclasses = 10\n");
        assert_eq!(values.unset("model.preset"), "custom mlp");
        assert_eq!(Values::of(None, None).unset("model.preset"), "Not set");
    }

    #[test]
    fn every_field_is_a_key() {
        for field in form().into_iter().chain([ranges()]).flat_map(|group| group.fields) {
            let table = field.path.split('.').next().unwrap();
            assert!(RawJob::KEYS.contains(&table), "{}", field.path);
            if let Control::Words(choices) = &field.control {
                assert!(choices.len() > 1, "{}", field.path);
            }
        }
        assert!(cards()[0].label.starts_with("t4-16gb · 14.6 GiB"));
    }

    #[test]
    fn counts_are_short() {
        assert_eq!([124_439_808, 1_557_611_200].map(short_count), ["124 M", "1.56 B"]);
    }
}
