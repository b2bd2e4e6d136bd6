//! Allowed words and bounds of the keys of a config, for forms; the parser uses the same tables.

use super::attention::ATTENTIONS;
use super::data::{NORMALIZATIONS, SPREADS};
use super::experts::IMPLEMENTATIONS as EXPERTS_IMPLEMENTATIONS;
use super::family::FAMILIES;
use super::limits;
use super::lora::TARGETS;
use super::mistake::MISTAKES;
use super::model::{Model, NORMS, POSITIONS};
use super::names::Names;
use super::parallel::{GATHERS, KINDS};
use super::pipeline::SCHEDULES;
use super::recurrent::{CARRIES, CELLS};
use super::saving::{KEEPS, STATES};
use super::training::{IMPLEMENTATIONS, PRECISIONS, RULES};
use std::ops::RangeInclusive;

/// Returns the words that a key accepts, in the order of the reference; empty if it accepts none.
///
/// Cards are not listed, since `card` also accepts lists and sizes: see [`Card::all`](super::Card::all).
pub fn words(path: &str) -> Vec<&'static str> {
    match path {
        "model.preset" => Model::presets().collect(),
        "model.family" => of(FAMILIES),
        "model.attention" => of(ATTENTIONS),
        "model.cell" => of(CELLS),
        "model.carry_hidden" => of(CARRIES),
        "model.norm" => of(NORMS),
        "model.positions" => of(POSITIONS),
        "model.experts_implementation" => of(EXPERTS_IMPLEMENTATIONS),
        "precision" => of(PRECISIONS),
        "optimizer.kind" => of(RULES),
        "optimizer.implementation" => of(IMPLEMENTATIONS),
        "optimizer.state" => of(STATES),
        "checkpointing.keep" => of(KEEPS),
        "lora.targets" => of(TARGETS),
        "data.lengths" | "data.batches" => of(SPREADS),
        "data.normalize" => of(NORMALIZATIONS),
        "mistakes" => of(MISTAKES),
        "parallel.kind" => of(KINDS),
        "parallel.gather" => of(GATHERS),
        "parallel.schedule" => of(SCHEDULES),
        _ => Vec::new(),
    }
}

/// Returns the bounds of a key, `None` if it takes no whole number.
pub fn bounds(path: &str) -> Option<RangeInclusive<u64>> {
    limits::whole(path).map(|limit| limit.least..=limit.most)
}

fn of<T>(names: Names<T>) -> Vec<&'static str> {
    names.iter().map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::RawJob;

    /// Checks that a config accepts each word of a key, and refuses another.
    #[track_caller]
    fn check(path: &str, config: impl Fn(&str) -> String) {
        let refused = |word: &str| {
            let raw = RawJob::from_toml(&config(word)).unwrap();
            let problems = raw.resolve().err().unwrap_or_default();
            problems.iter().any(|problem| problem.message.contains("unknown value") || problem.path == "mistakes[0]")
        };
        assert!(!words(path).is_empty(), "{path}");
        for word in words(path) {
            assert!(!refused(word), "{path} = {word}");
        }
        assert!(refused("nonsense"), "{path}: the check can fail");
    }

    #[test]
    fn configs_take_the_words() {
        check("precision", |word| format!("model = \"mlp\"\nprecision = \"{word}\""));
        check("optimizer.kind", |word| format!("model = \"mlp\"\noptimizer = \"{word}\""));
        check("optimizer.implementation", |word| {
            format!("model = \"mlp\"\noptimizer = {{ implementation = \"{word}\" }}")
        });
        check("model.attention", |word| format!("model = {{ preset = \"gpt2\", attention = \"{word}\" }}"));
        check("parallel.kind", |word| format!("model = \"gpt2\"\nparallel = {{ kind = \"{word}\" }}"));
    }

    #[test]
    fn keys_without_words_or_bounds_have_none() {
        assert_eq!(words("batch"), [""; 0]);
        assert_eq!(bounds("batch"), Some(1..=1 << 16));
        assert_eq!(bounds("precision"), None);
    }
}
