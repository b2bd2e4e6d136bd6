//! Resolves experts, which need a Llama model, and a routing if their shapes depend on it.

use super::super::activation::Activation;
use super::super::card::{Card, ComputeCapability};
use super::super::experts::{Experts, ExpertsImplementation, RawRouting, Routing};
use super::super::key::Key;
use super::super::model::{Model, Transformer, TransformerFamily};
use super::super::raw::{MODEL, RawModel};
use super::super::resolved::Job;
use super::super::training::Device;
use super::Resolver;
use super::table::Table;

/// Default of Mixtral.
const PER_TOKEN: u64 = 2;

/// First compute capability that `grouped_mm` runs on.
const AMPERE: ComputeCapability = ComputeCapability { major: 8, minor: 0 };

impl Resolver {
    /// Returns the experts of a transformer, if it has any.
    pub(super) fn experts(&mut self, raw: &mut Table<'_, RawModel>, base: Option<&Experts>) -> Option<Experts> {
        let Some(usual) = raw.given(&MODEL.experts).copied().or(base.map(|base| base.count)) else {
            self.no_experts(raw, &MODEL.experts_per_token);
            self.no_experts(raw, &MODEL.experts_implementation);
            self.no_experts(raw, &MODEL.routing);
            return None;
        };
        let count = self.whole(raw, &MODEL.experts, usual);
        let usual = base.map_or(PER_TOKEN, |base| base.per_token).min(count);
        let per_token = self.whole(raw, &MODEL.experts_per_token, usual);
        if per_token > count {
            let message = format!("{per_token} experts per token, but the model has only {count}");
            self.problem("model.experts_per_token", message, format!("write at most {count}"));
        }
        let is_grouped = base.is_none_or(|base| base.implementation == ExpertsImplementation::GroupedMm);
        let is_grouped = self.word(raw, &MODEL.experts_implementation, is_grouped);
        let implementation = if is_grouped {
            self.no_routing(raw);
            ExpertsImplementation::GroupedMm
        } else {
            ExpertsImplementation::Eager(self.routing(raw, count, per_token))
        };
        Some(Experts { count, per_token, implementation })
    }

    /// Reports a key of experts, of which the model has none.
    fn no_experts<T: 'static, D>(&mut self, raw: &mut Table<'_, RawModel>, key: &Key<RawModel, T, D>) {
        if raw.given(key).is_some() {
            self.problem(key.path, "the model has no experts", "for example, write experts = 8");
        }
    }

    fn no_routing(&mut self, raw: &mut Table<'_, RawModel>) {
        if raw.given(&MODEL.routing).is_some() {
            let hint = "write experts_implementation = \"eager\", or remove it";
            self.problem("model.routing", "`grouped_mm` takes the same memory with any routing", hint);
        }
    }

    fn routing(&mut self, raw: &mut Table<'_, RawModel>, count: u64, per_token: u64) -> Routing {
        let routing = match raw.given(&MODEL.routing) {
            None => Routing::Even,
            Some(RawRouting::Word(word)) => {
                self.choice("model.routing", Some(word), (), &[("even", ())]);
                Routing::Even
            }
            Some(RawRouting::Shares(shares)) => self.shares(shares, count, per_token),
        };
        raw.settle(
            &MODEL.routing,
            match &routing {
                Routing::Even => RawRouting::Word("even".to_owned()),
                Routing::Shares(shares) => RawRouting::Shares(shares.clone()),
            },
        );
        routing
    }

    fn shares(&mut self, shares: &[f64], count: u64, per_token: u64) -> Routing {
        let sum = shares.iter().sum::<f64>();
        if shares.len() as u64 != count {
            let message = format!("{} shares for {count} experts", shares.len());
            self.problem("model.routing", message, "write one number for each expert");
        } else if shares.iter().any(|share| !(0.0..=1e9).contains(share)) || sum <= 0.0 {
            self.problem(
                "model.routing",
                "shares must be numbers from 0 to 10^9, and not all 0",
                "for example, write 1",
            );
        } else if shares.iter().any(|share| share / sum * per_token as f64 > 1.0 + 1e-9) {
            let message =
                format!("a share is more than 1/{per_token} of the sum, but an expert computes each token only once");
            self.problem("model.routing", message, "write a smaller share");
        } else {
            return Routing::Shares(shares.to_vec());
        }
        Routing::Even
    }

    /// Checks what a transformer with experts must be like.
    pub(super) fn check_expert_model(&mut self, model: &Transformer) {
        if model.experts.is_none() {
            return;
        }
        if model.family == TransformerFamily::Gpt2 {
            self.problem("model.experts", "gpt2 has no experts", "remove it, or write architecture = \"llama\"");
            return;
        }
        if model.activation != Activation::SwiGlu {
            self.problem("model.activation", "experts need a gated activation", "write `swiglu`");
        }
        if model.mlp_bias {
            self.problem("model.mlp_bias", "experts have no bias", "remove it");
        }
    }

    /// Refuses cards without `grouped_mm` for experts that need it.
    pub(super) fn check_experts(&mut self, job: &Job) {
        let Model::Transformer(Transformer { experts: Some(experts), .. }) = &job.model else { return };
        let Device::Virtual(cards) = &job.device else { return };
        let is_old = |card: &&Card| card.capability < AMPERE;
        if experts.implementation == ExpertsImplementation::GroupedMm
            && let Some(card) = cards.0.iter().find(is_old)
        {
            let message = format!("{} does not support `grouped_mm`", card.name);
            let hint =
                "choose a card with compute capability 8.0 or later, or write experts_implementation = \"eager\"";
            self.problem("card", message, hint);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::job::{ExpertsImplementation, Job, Model, Problem, RawJob, Routing};

    const SMALL: &str = "family = 'transformer', architecture = 'llama', hidden = 64, heads = 4, experts = 4";

    fn resolve(keys: &str, rest: &str) -> Result<Job, Vec<Problem>> {
        RawJob::from_toml(&format!("model = {{ {keys} }}\n{rest}")).unwrap().resolve()
    }

    #[track_caller]
    fn check(keys: &str, implementation: &ExpertsImplementation) {
        let job = resolve(&format!("{SMALL}{keys}"), "").unwrap();
        let Model::Transformer(model) = &job.model else { panic!("a transformer") };
        assert_eq!(model.experts.as_ref().map(|experts| &experts.implementation), Some(implementation));
        assert_eq!(RawJob::from_json(&job.to_json()).unwrap().resolve().unwrap(), job);
    }

    #[track_caller]
    fn check_problem(keys: &str, rest: &str, problem: &str) {
        let problems = resolve(keys, rest).unwrap_err();
        assert_eq!(problems.iter().map(Problem::to_string).collect::<Vec<_>>(), [problem]);
    }

    #[test]
    fn experts_are_grouped_unless_a_config_says_otherwise() {
        check("", &ExpertsImplementation::GroupedMm);
        check(", experts_implementation = 'eager'", &ExpertsImplementation::Eager(Routing::Even));
        check(
            ", experts_implementation = 'eager', routing = [4, 2, 1, 1]",
            &ExpertsImplementation::Eager(Routing::Shares(vec![4.0, 2.0, 1.0, 1.0])),
        );
    }

    #[test]
    fn what_does_not_fit_is_a_problem() {
        let with = |keys: &str| format!("{SMALL}, {keys}");
        check_problem(
            "preset = 'gpt2', experts = 4",
            "",
            "model.experts: gpt2 has no experts; remove it, or write architecture = \"llama\"",
        );
        check_problem(
            "preset = 'llama-2-7b', routing = 'even'",
            "",
            "model.routing: the model has no experts; for example, write experts = 8",
        );
        check_problem(
            &with("experts_per_token = 5"),
            "",
            "model.experts_per_token: 5 experts per token, but the model has only 4; write at most 4",
        );
        check_problem(
            &with("routing = 'even'"),
            "",
            "model.routing: `grouped_mm` takes the same memory with any routing; \
             write experts_implementation = \"eager\", or remove it",
        );
        check_problem(
            &with("experts_implementation = 'eager', routing = [1, 1]"),
            "",
            "model.routing: 2 shares for 4 experts; write one number for each expert",
        );
        check_problem(
            &with("experts_implementation = 'eager', routing = [3, 1, 1, 0]"),
            "",
            "model.routing: a share is more than 1/2 of the sum, but an expert computes each token only once; \
             write a smaller share",
        );
        check_problem(
            SMALL,
            "card = 't4-16gb'",
            "card: t4-16gb does not support `grouped_mm`; \
             choose a card with compute capability 8.0 or later, or write experts_implementation = \"eager\"",
        );
    }
}
