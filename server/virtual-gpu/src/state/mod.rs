//! Keeps the state of the virtual GPU: devices and their memory, streams, events, graphs and names of kernels.
//!
//! Nothing here knows the C interface; the modules `runtime` and `driver` translate it.

pub(crate) mod attributes;

pub(crate) mod backing;

pub(crate) mod capture;

pub(crate) mod comparison;

pub(crate) mod device;
mod driver;

pub(crate) mod handle;

pub(crate) mod host;

pub(crate) mod kernel;

pub(crate) mod loading;

pub(crate) mod machine;

pub(crate) mod memory;

pub(crate) mod pool;

pub(crate) mod stream;

pub(crate) mod thread;

mod told;

pub(crate) mod values;

pub(crate) mod virtual_memory;

pub(crate) mod work;

pub(crate) use device::Device;
pub(crate) use foundation::allocator::AddressOrder;
pub(crate) use machine::{Machine, Place, launch, machine, now};
