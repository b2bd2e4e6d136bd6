//! Copies of the model's tensors, by module, from which a replica is built.

use std::cell::RefCell;
use std::collections::HashMap;

use tch::{TchError, Tensor};

use crate::Result;
use crate::place::Module;

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
