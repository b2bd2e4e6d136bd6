//! Writes experts with every key.

use super::super::experts::{Experts, ExpertsImplementation, IMPLEMENTATIONS, RawRouting, Routing};
use super::super::raw::RawModel;
use super::word;

/// Returns the keys of a transformer's experts, and no keys if it has none.
pub(super) fn raw_experts(experts: Option<&Experts>) -> RawModel {
    let Some(Experts { count, per_token, implementation }) = experts else { return RawModel::default() };
    RawModel {
        experts: Some(*count),
        experts_per_token: Some(*per_token),
        experts_implementation: word(IMPLEMENTATIONS, &(*implementation == ExpertsImplementation::GroupedMm)),
        routing: match implementation {
            ExpertsImplementation::GroupedMm => None,
            ExpertsImplementation::Eager(Routing::Even) => Some(RawRouting::Word("even".to_owned())),
            ExpertsImplementation::Eager(Routing::Shares(shares)) => Some(RawRouting::Shares(shares.clone())),
        },
        ..RawModel::default()
    }
}
