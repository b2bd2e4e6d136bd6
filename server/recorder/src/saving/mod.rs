//! Ways to save memory that are independent of the model: host memory, and a loss in chunks.
//!
//! [`Pass`](crate::pass::Pass) selects the layers to checkpoint; 8-bit state belongs to the optimizer.
//!
//! Ways that are Python code in PyTorch are implemented for real: selective checkpointing answers libtorch's dispatch
//! modes from C++, offloaded activations are saved-tensor hooks, and pinned memory on a virtual GPU is committed page
//! by page.

mod chunks;
mod host;

pub(crate) use chunks::ChunkedLoss;
pub(crate) use host::{HostOptimizer, with_activations_on_host};
