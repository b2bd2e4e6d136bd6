//! What `nn.DataParallel` sends between devices, and the copies from which a replica is built.
#![allow(unsafe_code, reason = "every call into shim/parallel.cpp is here")]

use std::cell::RefCell;
use std::collections::HashMap;

use tch::{TchError, Tensor};

use crate::Result;
use crate::place::Module;
use crate::shim::{Message, Pointer, RawList, check, made, owned, pointer, pointers};

/// Device that everything is gathered on.
const FIRST: i64 = 0;

#[repr(C)]
struct RawDevices {
    indices: *const i64,
    count: usize,
}

unsafe extern "C" {
    fn snapscope_broadcast(list: RawList, devices: RawDevices, out: *mut Pointer) -> Message;
    fn snapscope_scatter(batch: Pointer, devices: RawDevices, out: *mut Pointer, count: *mut usize) -> Message;
    fn snapscope_gather(list: RawList, destination: i64, out: *mut Pointer) -> Message;
}

impl RawDevices {
    fn of(devices: &[i64]) -> Self {
        Self { indices: devices.as_ptr(), count: devices.len() }
    }
}

/// Copies tensors of the first device; returns all copies of one device, then all of the next.
pub(super) fn broadcast(tensors: &[&Tensor], devices: &[i64]) -> Result<Vec<Tensor>> {
    if tensors.is_empty() {
        return Ok(Vec::new());
    }
    let pointers = pointers(tensors.iter().copied());
    let mut out = vec![std::ptr::null_mut(); tensors.len() * devices.len()];
    // SAFETY: the tensors outlive the call, and `out` has room for as many for each device.
    check(unsafe { snapscope_broadcast(RawList::of(&pointers), RawDevices::of(devices), out.as_mut_ptr()) })?;
    Ok(out.into_iter().map(owned).collect())
}

/// Splits a batch into at most one part for each device.
pub(super) fn scatter(batch: &Tensor, devices: &[i64]) -> Result<Vec<Tensor>> {
    let mut out = vec![std::ptr::null_mut(); devices.len()];
    let mut count = 0;
    // SAFETY: the batch outlives the call, and there are at most as many parts as devices.
    check(unsafe { snapscope_scatter(pointer(batch), RawDevices::of(devices), out.as_mut_ptr(), &mut count) })?;
    Ok(out.into_iter().take(count).map(owned).collect())
}

/// Gathers the parts of all devices on the first device.
pub(super) fn gather(parts: &[&Tensor]) -> Result<Tensor> {
    let pointers = pointers(parts.iter().copied());
    // SAFETY: the parts outlive the call.
    made(|out| unsafe { snapscope_gather(RawList::of(&pointers), FIRST, out) })
}

/// Copies on one device, and the modules of its replica, which stay the same for all forward passes.
#[derive(Debug)]
pub(crate) struct Copies {
    root: Module,
    modules: RefCell<HashMap<(Module, String), Module>>,
    tensors: RefCell<HashMap<String, Tensor>>,
}

impl Copies {
    /// Creates an empty set of copies for the replica with this root module.
    pub(super) fn new(root: Module) -> Self {
        Self { root, modules: RefCell::default(), tensors: RefCell::default() }
    }

    /// Returns the module of the whole replica.
    pub(crate) fn root(&self) -> Module {
        self.root
    }

    /// Returns a module of the replica, and creates it at the first call.
    pub(crate) fn module(&self, parent: Module, name: &str) -> Module {
        let key = (parent, name.to_owned());
        *self.modules.borrow_mut().entry(key).or_insert_with(|| parent.child(name))
    }

    /// Adds copies, each with the module of its original.
    pub(super) fn put(&self, copies: impl Iterator<Item = (Module, Tensor)>) {
        self.tensors.borrow_mut().extend(copies.map(|(module, tensor)| (module.path(), tensor)));
    }

    /// Takes the copy that belongs to a module of the replica.
    ///
    /// # Errors
    ///
    /// Returns an error if the module has no copy.
    pub(crate) fn take(&self, module: Module) -> Result<Tensor> {
        let path = module.path();
        let original = path.strip_prefix(&self.root.path()).and_then(|rest| rest.strip_prefix('.'));
        let missing = || TchError::Kind(format!("{path} has no copy"));
        original.and_then(|original| self.tensors.borrow_mut().remove(original)).ok_or_else(missing)
    }

    /// Drops the copies that no module has taken.
    pub(super) fn clear(&self) {
        self.tensors.borrow_mut().clear();
    }
}
