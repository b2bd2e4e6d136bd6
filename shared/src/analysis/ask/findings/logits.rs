//! Finds a loss over many classes whose logits, with their copies and gradients, make up much of the peak.
//!
//! Logits have a row for each token and a column for each word. A cross entropy holds them in 16 and in 32 bits,
//! together with their logarithms and their gradient, each allocated at a line of its own, so that no single line
//! stands out.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank};
use super::own_code::{Own, line_of, row_of};
use crate::analysis::study::studied::Study;
use crate::base::format;
use crate::trace::StackId;
use hashbrown::HashMap;

/// Share of the peak that such tensors must have together, in percent.
const LEAST_PERCENT: u64 = 25;

/// A single tensor would be only the logits.
const LEAST_TENSORS: usize = 2;

/// Tensors of one shape, in 16 or in 32 bits.
#[derive(Default)]
struct Shape {
    bytes: u64,
    rows: Vec<(u64, StackId)>,
    is_of_loss: bool,
}

pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let (moment, peak_bytes) = study.timeline.live_peak();
    let allocations = &study.timeline.allocations;
    let mut shapes: HashMap<u64, Shape> = HashMap::new();
    let large = allocations.alive_at(moment).filter(|row| row.1.saturating_mul(100) >= peak_bytes);
    let large: Vec<(u64, StackId)> = large.map(|(id, _)| row_of(study, id)).collect();
    // What the program computes itself and keeps has a finding of its own, and the size of logits by chance.
    let is_own = |stack: StackId| {
        let site = study.sites.of_stack(stack);
        !site.in_module && !site.is_of_loss && study.growth.growing().any(|kept| kept.stack == stack)
    };
    for &(size_bytes, stack) in large.iter().filter(|row| !is_own(row.1)) {
        // Each tensor counts both for the shape of its own size and for the shape of twice its size, in case it has 16
        // bits.
        for whole in [size_bytes, size_bytes.saturating_mul(2)] {
            let shape = shapes.entry(whole).or_default();
            shape.bytes = shape.bytes.saturating_add(size_bytes);
            shape.rows.push((size_bytes, stack));
            shape.is_of_loss |= study.sites.of_stack(stack).is_of_loss;
        }
    }
    let of_loss = shapes.into_values().filter(|shape| shape.is_of_loss && shape.rows.len() >= LEAST_TENSORS);
    let shape = of_loss.max_by_key(|shape| shape.bytes)?;
    let percent = shape.bytes.saturating_mul(100) / peak_bytes.max(1);
    if percent < LEAST_PERCENT {
        return None;
    }
    let line = shape.rows.iter().find_map(|&(_, stack)| line_of(study, stack, Own::Innermost));
    let what = format!(
        "{} of the peak is logits and their copies: {} tensors of up to {}",
        format::percent(shape.bytes, peak_bytes),
        shape.rows.len(),
        format::bytes(shape.rows.iter().map(|row| row.0).max().unwrap_or(0)),
    );
    let shows = format!(
        "At the peak, {} is live in tensors of one shape, with a row for each token and a column for each word or class. \
         Cross entropy or `log_softmax` allocates some of them.",
        format::bytes(shape.bytes)
    );
    let found = Finding::note(study, FindingCode::LogitsAtPeak, Confidence::Medium, Rank::Cause, shape.bytes);
    Some(found.placed(&what, ", at ", line).shown(shows, moment.checked_sub(1), shape.rows).advised(
        "Compute the loss in chunks of rows, or with a fused linear cross entropy that never holds all logits at \
         once (Liger Kernel, or Apple's Cut Cross-Entropy).\n\
         Drop rows without a label before the last layer.\n\
         Avoid a float32 copy of all logits (`logits.float()`); `torch.compile` can fuse some of the copies away.",
    ))
}
