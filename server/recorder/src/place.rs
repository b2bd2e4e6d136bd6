//! Places: the phase, module and operation that each allocation carries in its stack.
//!
//! Each thread is in a phase and in a module, and whatever it allocates is recorded under both. The snapshot has them
//! as frames, innermost first: the operations under way (file `operator`), the module and its parents (file `module`,
//! name `layers.3.attention · forward`), and the phase (file `phase`).
//!
//! A callback of the dispatcher tracks the operations; Rust sets the module and the phase. Backward runs on threads of
//! the autograd engine; there the module is found by the sequence number that a node shares with its forward operation.

use std::cell::RefCell;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Result, history, shim};

/// Phase of a run, in the order of `kPhases` in `shim/place.cpp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Phase {
    /// Building the model and the optimizer.
    Setup,
    /// Bringing a batch to the device.
    Data,
    /// The model's forward pass.
    Forward,
    /// Computing the loss from the model's outputs.
    Loss,
    /// Computing gradients.
    Backward,
    /// Unscaling and clipping gradients, the optimizer's step, and clearing gradients.
    Optimizer,
    /// Forward pass and loss without training.
    Evaluation,
    /// A forward pass that checkpointing repeats during backward.
    Recompute,
}

impl Phase {
    const NAMES: [(Self, &str); 8] = [
        (Self::Setup, "setup"),
        (Self::Data, "data"),
        (Self::Forward, "forward"),
        (Self::Loss, "loss"),
        (Self::Backward, "backward"),
        (Self::Optimizer, "optimizer"),
        (Self::Evaluation, "evaluation"),
        (Self::Recompute, "recompute"),
    ];

    /// Returns the phase with the shim's number; unknown numbers yield [`Phase::Setup`].
    pub fn from_number(number: i32) -> Self {
        usize::try_from(number).ok().and_then(|index| Self::NAMES.get(index)).map_or(Self::Setup, |(phase, _)| *phase)
    }

    /// Runs `work` in this phase, then restores the previous one.
    pub fn run<T>(self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let before = shim::set_phase(self as i32);
        let result = work();
        if result.is_err() {
            Failure::note(|| Failure { phase: self, module: String::new() });
        }
        shim::set_phase(before);
        result
    }

    /// Runs `work` like [`run`](Self::run), with a span in the snapshot's annotations.
    pub fn run_annotated<T>(self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let name = self.to_string();
        history::annotate(&name, history::START);
        let result = self.run(work);
        history::annotate(&name, history::END);
        result
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize].1)
    }
}

/// A module of the model, or a tensor that belongs to one; created by [`Module::root`] and [`Module::child`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Module(u32);

/// Paths of all modules, indexed by number.
static PATHS: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl Module {
    /// Creates a module without a parent.
    pub fn root(name: &str) -> Self {
        Self::add(None, name.to_owned())
    }

    /// Returns the module of this name that has no parent, and creates it at the first call.
    pub fn named(name: &str) -> Self {
        Self::known(name).unwrap_or_else(|| Self::root(name))
    }

    fn known(path: &str) -> Option<Self> {
        let number = lock(&PATHS).iter().position(|known| known == path)?;
        u32::try_from(number).ok().map(Self)
    }

    /// Creates a submodule: `layers.3` and `attention` make `layers.3.attention`.
    pub fn child(self, name: &str) -> Self {
        Self::add(Some(self.0), format!("{}.{name}", self.path()))
    }

    /// Returns the submodule of this name, and creates it at the first call.
    pub fn named_child(self, name: &str) -> Self {
        Self::known(&format!("{}.{name}", self.path())).unwrap_or_else(|| self.child(name))
    }

    /// Returns the number by which the shim knows the module.
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    /// Returns the path, such as `layers.3.attention`.
    pub fn path(self) -> String {
        lock(&PATHS)[self.0 as usize].clone()
    }

    fn add(parent: Option<u32>, path: String) -> Self {
        let mut paths = lock(&PATHS);
        let number = shim::module(parent, &path);
        debug_assert_eq!(number as usize, paths.len(), "the shim numbers modules in order");
        paths.push(path);
        Self(number)
    }

    /// Runs `work` in this module, so that its allocations belong to the module.
    pub fn run<T>(self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let before = shim::enter(self.0);
        let result = work();
        if result.is_err() {
            Failure::note(Failure::here);
        }
        shim::leave(before);
        result
    }
}

/// Locks a mutex, whatever a thread that panicked left behind it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Place of the first failed operation of this thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub phase: Phase,
    /// Path of the module; empty outside of modules.
    pub module: String,
}

thread_local! {
    static FIRST_FAILURE: RefCell<Option<Failure>> = const { RefCell::new(None) };
}

impl Failure {
    /// Returns the innermost place on this thread that an error passed through; the setup if there is none.
    ///
    /// Backward fails on threads of the autograd engine; the module is then that of the last backward node.
    pub fn first() -> Self {
        let failure = FIRST_FAILURE.with_borrow(Clone::clone);
        let mut failure = failure.unwrap_or(Self { phase: Phase::Setup, module: String::new() });
        if failure.phase == Phase::Backward && failure.module.is_empty() {
            failure.module = shim::backward_place().module;
        }
        failure
    }

    fn here() -> Self {
        let place = shim::place();
        Self { phase: Phase::from_number(place.phase), module: place.module }
    }

    /// Keeps the place that is noted first, which is the innermost one.
    fn note(place: impl FnOnce() -> Self) {
        FIRST_FAILURE.with_borrow_mut(|first| {
            if first.is_none() {
                *first = Some(place());
            }
        });
    }
}
