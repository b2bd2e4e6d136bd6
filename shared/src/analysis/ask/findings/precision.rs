//! Finds a loss that is computed in 16 bits.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, MOST_SHOWN, Rank};
use super::own_code::texts_of;
use crate::analysis::study::phases::Phase;
use crate::analysis::study::studied::Study;
use crate::trace::Action;

/// Size of one 16-bit number; a loss in 32 bits requests four bytes.
const HALF_BYTES: u64 = 2;

/// Parts of the names of functions that compute a loss, as frames have them.
const LOSSES: [&str; 8] = [
    "nll_loss",
    "cross_entropy",
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "binary_cross_entropy",
    "kl_div",
];

pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let events = &study.device.events;
    let is_half =
        |&event: &usize| events.actions().at(event) == Action::Alloc && events.sizes_bytes().at(event) == HALF_BYTES;
    let of_loss = |&event: &usize| {
        let stack = events.stacks().at(event);
        let is_named = |name: &str| LOSSES.iter().any(|loss| name.contains(loss));
        texts_of(study.trace, stack).any(|(name, _)| is_named(name))
            && study.phases.of_birth(event as u32 + 1, stack) == Phase::Forward
    };
    let halves: Vec<u32> =
        (0..events.len()).filter(is_half).filter(of_loss).map(|event| event as u32).take(MOST_SHOWN).collect();
    let stack = events.stacks().at(*halves.first()? as usize);
    let shows = "The loss is a single number and takes two bytes. In 32 bits it would take four.".to_owned();
    let by = format!(", by {}", study.title(stack));
    let found = Finding::warning(study, FindingCode::LossIn16Bits, Confidence::High, Rank::Cause, HALF_BYTES);
    let told = found.titled("The loss is computed in 16 bits", [by]).shown(shows, halves, [(HALF_BYTES, stack)]);
    Some(told.advised(
        "Compute the loss inside the `torch.autocast` block, where PyTorch casts it to 32 bits.\n\
         Or compute it from ``logits.float()``.\n\n\
         Sums over a vocabulary or a batch lose precision in 16 bits.",
    ))
}
