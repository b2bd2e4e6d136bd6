//! A state machine of PyTorch's caching allocator: requests in, events and segments out.
//!
//! It has no trace and no clock.
//! Below it is a [`Driver`], a model of the device's memory; the caller above it sends the requests and says when
//! another stream no longer uses a freed block.
//! The rules are those of `c10/cuda/CUDACachingAllocator.cpp`; the tests replay programs that PyTorch itself ran.

mod conf;
mod rounding;
mod settings;

mod address_space;
mod driver;

mod block;
mod free_list;

mod core;
mod counters;
mod expandable;
mod find;
mod placed;
mod state;

pub use self::core::{Allocator, OutOfMemory, PendingFree};
pub use address_space::{AddressOrder, AddressSpace, SLOT};
pub use block::{BlockId, BlockUse, Event, EventKind, PoolKey};
pub use conf::{ConfError, options};
pub use counters::{Counters, Gauge};
pub use driver::{Driver, LAST_ADDR, VirtualCard};
pub use free_list::PoolOptions;
pub use placed::{PlacedBlock, PlacedSegment};
pub use settings::{Settings, TorchVersion};
pub use state::{BlockState, SegmentState};
