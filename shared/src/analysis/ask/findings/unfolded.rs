//! Finds convolutions that PyTorch computes without a kernel of cuDNN, by unfolding their input into columns.
//!
//! `slow_conv_dilated2d`, `slow_conv_dilated3d` and `slow_conv_transpose3d` (`aten/src/ATen/native/cuda`) allocate a
//! column for each place of the output, with a row for each weight of a filter: for a filter of 3×3×3, 27 times the
//! input.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank};
use super::own_code::{Own, line_of, texts_of};
use crate::analysis::study::studied::Study;
use crate::analysis::track::peak::live_by_stack;
use crate::base::format;
use crate::trace::StackId;

/// Share of the peak that the columns must have, in percent.
const LEAST_PERCENT: u64 = 10;

pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let (moment, peak_bytes) = study.timeline.live_peak();
    let rows: Vec<(u64, StackId)> = live_by_stack(study.device, &study.timeline.allocations, moment)
        .into_iter()
        .filter(|group| texts_of(study.trace, group.stack).any(|(name, _)| name.contains("slow_conv")))
        .map(|group| (group.bytes, group.stack))
        .collect();
    let bytes = rows.iter().map(|(bytes, _)| bytes).sum::<u64>();
    if rows.is_empty() || bytes.saturating_mul(100) < peak_bytes.saturating_mul(LEAST_PERCENT) {
        return None;
    }
    let line = rows.iter().find_map(|&(_, stack)| line_of(study, stack, Own::Innermost));
    let share = format::percent(bytes, peak_bytes);
    let what = format!("{share} of the peak is a convolution without a cuDNN kernel");
    let shows = format!(
        "{} is live at the peak in columns that PyTorch's own `slow_conv` kernels make of a convolution's input, with a \
         row for each weight of a filter.",
        format::bytes(bytes)
    );
    let found = Finding::warning(study, FindingCode::ConvolutionUnfolded, Confidence::High, Rank::Cause, bytes);
    Some(found.placed(&what, ", at ", line).shown(shows, moment.checked_sub(1), rows).advised(
        "Install a cuDNN that has a kernel for it, if PyTorch finds none: ``pip install -U nvidia-cudnn-cu12``.\n\
         Check that `torch.backends.cudnn.enabled` is true, and that the dtype is one that cuDNN has this kernel for.\n\
         Write a dilated convolution as one without dilation on a strided view, or cut the input into tiles.\n\n\
         PyTorch falls back on these kernels where cuDNN is missing, turned off, or does not support the shape.",
    ))
}
