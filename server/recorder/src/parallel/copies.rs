//! What a replica is built from: copies of the model's tensors, by the module that has them.

use std::cell::RefCell;
use std::collections::HashMap;

use tch::{TchError, Tensor};

use crate::Result;
use crate::place::Module;

/// The copies of one device, and the modules of its replica, which are the same in each forward pass.
#[derive(Debug)]
pub(crate) struct Copies {
    root: Module,
    modules: RefCell<HashMap<(Module, String), Module>>,
    tensors: RefCell<HashMap<String, Tensor>>,
}

impl Copies {
    /// Nothing yet, for the replica that is this module.
    pub(super) fn new(root: Module) -> Self {
        Self { root, modules: RefCell::default(), tensors: RefCell::default() }
    }

    /// The replica as a whole.
    pub(crate) fn root(&self) -> Module {
        self.root
    }

    /// A module of the replica; it is made at the first time.
    pub(crate) fn module(&self, parent: Module, name: &str) -> Module {
        let key = (parent, name.to_owned());
        *self.modules.borrow_mut().entry(key).or_insert_with(|| parent.child(name))
    }

    /// Adds copies, each with the module of its original.
    pub(super) fn put(&self, copies: impl Iterator<Item = (Module, Tensor)>) {
        self.tensors.borrow_mut().extend(copies.map(|(module, tensor)| (module.path(), tensor)));
    }

    /// The copy that a module of the replica has.
    ///
    /// # Errors
    ///
    /// There is none.
    pub(crate) fn take(&self, module: Module) -> Result<Tensor> {
        let path = module.path();
        let original = path.strip_prefix(&self.root.path()).and_then(|rest| rest.strip_prefix('.'));
        let missing = || TchError::Kind(format!("{path} has no copy"));
        original.and_then(|original| self.tensors.borrow_mut().remove(original)).ok_or_else(missing)
    }

    /// Drops what no module has taken.
    pub(super) fn clear(&self) {
        self.tensors.borrow_mut().clear();
    }
}
