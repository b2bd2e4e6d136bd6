//! Finds CUDA graphs of which each has a memory pool of its own.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank};
use super::own_code::{Own, own_line};
use crate::analysis::study::studied::Study;
use crate::base::format;
use crate::trace::{PoolId, Segment};
use hashbrown::HashMap;

/// Less than 1/4 of the reserved memory is not worth a change.
const LEAST_SHARE: u64 = 4;

/// Less than 64 MiB is not reported.
const LEAST_BYTES: u64 = 64 << 20;

/// Reports pools that the captures created, if one pool for all would save much.
pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let segments = &study.device.segments;
    let is_of_graph = |segment: &&Segment| segment.pool.is_some_and(|pool| pool.0 > 0);
    let captured: Vec<&Segment> = segments.segments.iter().filter(is_of_graph).collect();
    let mut pools: HashMap<Option<PoolId>, u64> = HashMap::new();
    captured.iter().for_each(|one| *pools.entry(one.pool).or_default() += one.size_bytes);
    let largest = pools.values().copied().max()?;
    let bytes: u64 = pools.values().sum();
    let saved = bytes - largest;
    if saved < LEAST_BYTES || saved.saturating_mul(LEAST_SHARE) < segments.reserved_bytes() {
        return None;
    }
    let framed = || captured.iter().map(|one| (one.size_bytes, one.stack)).filter(|row| row.1.has_frames());
    let what = format!("{} CUDA graphs have a pool each: {}", pools.len(), format::bytes(bytes));
    let shows = format!(
        "At the end, {} of {} reserved is in {} private pools. The largest has {}, and the memory of one pool is of no use \
         to the others.",
        format::bytes(bytes),
        format::bytes(segments.reserved_bytes()),
        pools.len(),
        format::bytes(largest)
    );
    let own = own_line(study, framed(), Own::Call);
    let found = Finding::warning(study, FindingCode::CudaGraphsLarge, Confidence::High, Rank::Cause, bytes);
    Some(found.placed(&what, ", in ", own).shown(shows, [], framed()).advised(
        "Let all graphs share one pool: ``pool = torch.cuda.graph_pool_handle()``, and `torch.cuda.graph(graph, \
         pool=pool)` for each.\n\
         Capture the largest batch first, so that the pool fits all others.\n\n\
         Graphs can share a pool if no two run at once, and if the result of one is copied before another is replayed.",
    ))
}
