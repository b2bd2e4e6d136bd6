//! PyTorch's caching allocator as a state machine: requests in, events and segments out.
//!
//! It knows no trace and no clock.
//! What stands below it is a [`Driver`], a model of the card; what stands above it says which requests come, and when
//! another stream is done with a freed block.
//! The rules are those of `c10/cuda/CUDACachingAllocator.cpp`; the tests replay programs that PyTorch itself ran.

mod conf;
mod rounding;
mod settings;

mod address_space;
mod driver;

mod block;
mod event;
mod pool;

mod core;
mod expandable;
mod find;
mod placed;
mod release;
mod state;

pub mod program;

pub use self::core::{Allocator, OutOfMemory, PendingFree};
pub use address_space::{AddressOrder, AddressSpace};
pub use block::{BlockId, BlockUse};
pub use conf::ConfError;
pub use driver::{Driver, LAST_ADDR, VirtualCard};
pub use event::{Event, EventKind};
pub use placed::{PlacedBlock, PlacedSegment};
pub use pool::{PoolKey, PoolOptions};
pub use settings::{Settings, TorchVersion};
pub use state::{BlockState, Counters, Gauge, SegmentState};
