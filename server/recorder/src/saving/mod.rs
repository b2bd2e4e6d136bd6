//! Ways to save memory that are none of the model's: what waits on the host, and a loss in chunks.
//!
//! Which layers are computed again is [`Pass`](crate::pass::Pass)'s matter, and state in 8 bits the optimizer's.

mod chunks;
mod host;

pub(crate) use chunks::ChunkedLoss;
pub(crate) use host::{HostOptimizer, with_activations_on_host};
