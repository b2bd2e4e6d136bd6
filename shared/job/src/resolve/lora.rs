//! Resolves the adapters of a job, which need linear layers of a transformer.

use super::super::lora::{Lora, LoraTarget, TARGETS};
use super::super::model::Model;
use super::super::problem::excerpt;
use super::super::raw::{JOB, LORA, RawJob, RawLora, Table};
use super::super::transformer::Transformer;
use super::Resolver;

/// Defaults of peft.
const RANK: u64 = 8;
const ALPHA: f64 = 8.0;

impl Resolver {
    /// Returns the adapters of a config.
    pub(super) fn lora(&mut self, job: &mut Table<'_, RawJob>, model: Option<&Model>) -> Option<Lora> {
        let mut raw = Table::new(job.given(&JOB.lora)?);
        let Model::Transformer(model) = model? else {
            self.problem("lora", "only `transformer` models can have adapters", "remove it");
            return None;
        };
        let lora = Lora {
            rank: self.number(&mut raw, &LORA.rank, RANK),
            alpha: self.number(&mut raw, &LORA.alpha, ALPHA),
            dropout: self.number(&mut raw, &LORA.dropout, 0.0),
            targets: self.targets(&mut raw, model),
        };
        job.settle(&JOB.lora, raw.settled);
        Some(lora)
    }

    fn targets(&mut self, raw: &mut Table<'_, RawLora>, model: &Transformer) -> Vec<LoraTarget> {
        let targets = match raw.given(&LORA.targets) {
            Some(names) => self.chosen_targets(names, model),
            None => LoraTarget::usual(model),
        };
        raw.settle(&LORA.targets, targets.iter().map(|target| target.name().to_owned()).collect());
        targets
    }

    fn chosen_targets(&mut self, names: &[String], model: &Transformer) -> Vec<LoraTarget> {
        let known = LoraTarget::of(model).map(LoraTarget::name).collect::<Vec<_>>().join(", ");
        let mut targets = Vec::new();
        for name in names {
            let target = TARGETS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, target)| *target);
            match target.filter(|target| LoraTarget::of(model).any(|known| known == *target)) {
                None => {
                    let message = format!("this model's layers have no `{}`", excerpt(name));
                    self.problem("lora.targets", message, format!("the possible targets are {known}"));
                }
                Some(target) if targets.contains(&target) => {
                    self.problem("lora.targets", format!("`{name}` is listed twice"), "remove one");
                }
                Some(target) => targets.push(target),
            }
        }
        if names.is_empty() {
            self.problem("lora.targets", "the list of targets is empty", format!("the possible targets are {known}"));
        }
        targets
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::job;

    /// Checks the targets and the number of trained parameters.
    #[track_caller]
    fn check(text: &str, targets: &[&str], trained: u64) {
        let job = job(text);
        let lora = job.lora.as_ref().unwrap();
        assert_eq!(lora.targets.iter().map(|target| target.name()).collect::<Vec<_>>(), targets);
        assert_eq!(job.trained_parameters(), trained);
        assert_eq!(job.parameters(), job.model.parameters() + trained);
    }

    #[test]
    fn usual_targets_are_those_of_peft() {
        // peft prints the same numbers of "trainable params".
        check("model = 'gpt2'\nlora = {}", &["qkv"], 294_912);
        check("model = 'llama-2-7b'\nlora = {}", &["q", "v"], 4_194_304);
    }

    #[test]
    fn targets_count_by_their_features() {
        let every_linear = ["q", "k", "v", "out", "gate", "up", "down"];
        let config = format!("model = 'llama-3-8b'\nlora = {{ rank = 16, targets = {every_linear:?} }}");
        check(&config, &every_linear, 41_943_040);
    }
}
