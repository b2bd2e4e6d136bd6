//! Mixture of experts: several feed-forward networks per layer, of which each token uses a few.

use serde::Serialize;

use super::document::Value;
use super::names::Names;
use super::reader::{FromValue, Reader};

/// Experts in place of each feed-forward network, as in transformers' `MixtralForCausalLM`.
#[derive(Debug, Clone, PartialEq)]
pub struct Experts {
    /// Number of experts in a layer.
    pub count: u64,
    /// Number of experts that compute a token. Invariant: at most `count`.
    pub per_token: u64,
    pub implementation: ExpertsImplementation,
}

/// Implementation of experts: `experts_implementation` in transformers 5.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpertsImplementation {
    /// One matrix product for all experts, `torch.nn.functional.grouped_mm`; its memory does not depend on the routing.
    GroupedMm,
    /// A loop over the experts, each of which computes its own tokens.
    Eager(Routing),
}

/// Distribution of tokens over the experts.
///
/// The virtual GPU computes no values from which a router could choose, so the routing comes from the config.
#[derive(Debug, Clone, PartialEq)]
pub enum Routing {
    /// The same number of tokens for each expert.
    Even,
    /// A share for each expert, in proportion to its tokens.
    Shares(Vec<f64>),
}

/// Names of the implementations: true for `GroupedMm`.
pub(super) const IMPLEMENTATIONS: Names<bool> = &[("grouped_mm", true), ("eager", false)];

/// A routing as written.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RawRouting {
    Word(String),
    Shares(Vec<f64>),
}

impl FromValue for RawRouting {
    const EXPECTED: &str = "`even` or a list of numbers";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Text(word) => Some(Self::Word(word.clone())),
            Value::List(items) => {
                items.iter().map(|item| f64::from_value(item, reader)).collect::<Option<_>>().map(Self::Shares)
            }
            _ => None,
        }
    }
}

impl Experts {
    /// Returns the number of tokens that each expert computes; no expert gets a token twice, and some may get none.
    ///
    /// Shares are rounded down, and the remainder goes to the experts that lost most, in order of their index:
    ///
    /// ```text
    /// 10 tokens for 2 of 4 experts, shares 0.5 0.25 0.15 0.1
    /// 20 in total:     10  5  3  2
    /// ```
    pub fn tokens_of_each(&self, routing: &Routing, tokens: u64) -> Vec<u64> {
        let all = tokens * self.per_token;
        let share = |index: usize| match routing {
            Routing::Even => all as f64 / self.count as f64,
            Routing::Shares(shares) => shares[index] / shares.iter().sum::<f64>() * all as f64,
        };
        let exact = (0..self.count as usize).map(share).collect::<Vec<_>>();
        let mut counts = exact.iter().map(|share| (share.floor() as u64).min(tokens)).collect::<Vec<_>>();
        let mut order = (0..exact.len()).collect::<Vec<_>>();
        order.sort_by(|a, b| exact[*b].fract().total_cmp(&exact[*a].fract()));
        let mut left = all - counts.iter().sum::<u64>().min(all);
        for index in order.into_iter().cycle().take(exact.len() * 2) {
            let more = u64::from(left > 0 && counts[index] < tokens);
            counts[index] += more;
            left -= more;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(per_token: u64, shares: &[f64], tokens: u64, counts: &[u64]) {
        let count = counts.len() as u64;
        let experts = Experts { count, per_token, implementation: ExpertsImplementation::GroupedMm };
        let routing = if shares.is_empty() { Routing::Even } else { Routing::Shares(shares.to_vec()) };
        assert_eq!(experts.tokens_of_each(&routing, tokens), counts);
        assert_eq!(counts.iter().sum::<u64>(), tokens * per_token);
    }

    #[test]
    fn every_token_is_computed_as_often_as_it_must() {
        check(2, &[], 8, &[4, 4, 4, 4]);
        check(2, &[], 3, &[2, 2, 1, 1]);
        check(1, &[], 2, &[1, 1, 0, 0]);
        check(2, &[0.5, 0.25, 0.15, 0.1], 10, &[10, 5, 3, 2]);
        check(2, &[1.0, 1.0, 0.0, 0.0], 7, &[7, 7, 0, 0]);
        check(1, &[0.55, 0.45], 1, &[1, 0]);
    }
}
