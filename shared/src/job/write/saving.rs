//! Writes the settings that save memory.

use super::super::names::name_of;
use super::super::raw::{RawCheckpointing, RawOptimizer, RawSelected};
use super::super::saving::{KEEPS, OptimizerStorage, STATES};
use super::super::training::{IMPLEMENTATIONS, Job, Optimizer};

pub(super) fn raw_checkpointing(job: &Job) -> RawCheckpointing {
    if !job.checkpointing {
        return RawCheckpointing::All(false);
    }
    let keep = Some(name_of(KEEPS, &job.saving.keep).to_owned());
    RawCheckpointing::Selected(RawSelected { every: Some(job.saving.checkpoint_every), keep })
}

/// Writes where the optimizer state is and which implementation runs the step; 8-bit state has only one.
pub(super) fn raw_storage(optimizer: Optimizer) -> RawOptimizer {
    let is_narrow = optimizer.storage == OptimizerStorage::EightBit;
    let implementation = name_of(IMPLEMENTATIONS, &optimizer.implementation).to_owned();
    let offload_gradients = match optimizer.storage {
        OptimizerStorage::Host { gradients } => Some(gradients),
        _ => None,
    };
    RawOptimizer {
        implementation: (!is_narrow).then_some(implementation),
        state: Some(name_of(STATES, &is_narrow).to_owned()),
        offload: Some(offload_gradients.is_some()),
        offload_gradients,
        ..RawOptimizer::default()
    }
}
