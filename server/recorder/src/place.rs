//! Where the program is: the words that allocations carry.
//!
//! A thread is in a phase and in a module; whatever it allocates is written down under both.
//! In the snapshot they are frames, innermost first: the operations under way (file `operator`), the module and its
//! parents (file `module`, name `layers.3.attention · forward`), and the phase (file `phase`).

use std::cell::RefCell;
use std::fmt;
use std::sync::Mutex;

use crate::{Result, shim};

/// A part of a run. The order is that of `kPhases` in `shim/place.cpp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Phase {
    /// The model and the optimizer are built.
    Setup,
    /// A batch is brought to the device.
    Data,
    /// The model's forward pass.
    Forward,
    /// The loss, from the model's outputs.
    Loss,
    /// Gradients.
    Backward,
    /// Unscaling, clipping, the optimizer's step, clearing gradients.
    Optimizer,
    /// Forward and loss without training.
    Evaluation,
    /// A forward pass that backward repeats, because of checkpointing.
    Recompute,
}

impl Phase {
    const ALL: [Self; 8] = [
        Self::Setup,
        Self::Data,
        Self::Forward,
        Self::Loss,
        Self::Backward,
        Self::Optimizer,
        Self::Evaluation,
        Self::Recompute,
    ];

    /// The phase of a number, as the shim gives it.
    pub fn from_number(number: i32) -> Self {
        usize::try_from(number).ok().and_then(|index| Self::ALL.get(index).copied()).unwrap_or(Self::Setup)
    }

    /// Runs `work` in this phase, and returns to the one before.
    ///
    /// # Errors
    ///
    /// Those of `work`.
    pub fn run<T>(self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let before = shim::set_phase(self as i32);
        let result = work();
        if result.is_err() {
            Failure::note(|| Failure { phase: self, ..Failure::default() });
        }
        shim::set_phase(before);
        result
    }

    /// As [`run`](Self::run), with a span among the snapshot's annotations.
    ///
    /// # Errors
    ///
    /// Those of `work`.
    pub fn run_annotated<T>(self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let name = self.to_string();
        shim::annotate_start(&name);
        let result = self.run(work);
        shim::annotate_end(&name);
        result
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Setup => "setup",
            Self::Data => "data",
            Self::Forward => "forward",
            Self::Loss => "loss",
            Self::Backward => "backward",
            Self::Optimizer => "optimizer",
            Self::Evaluation => "evaluation",
            Self::Recompute => "recompute",
        })
    }
}

/// A module of the model, or a tensor that belongs to one; [`Module::root`] and [`Module::child`] mint it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Module(u32);

/// The path of every module, by number.
static PATHS: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl Module {
    /// A module with no parent.
    pub fn root(name: &str) -> Self {
        Self::add(None, name.to_owned())
    }

    /// The module with no parent of this name; it is made where there is none.
    pub fn named(name: &str) -> Self {
        let known = lock(&PATHS).iter().position(|path| path == name);
        match known.map(u32::try_from) {
            Some(Ok(number)) => Self(number),
            _ => Self::root(name),
        }
    }

    /// A module inside this one: `layers.3` and `attention` make `layers.3.attention`.
    pub fn child(self, name: &str) -> Self {
        Self::add(Some(self.0), format!("{}.{name}", self.path()))
    }

    /// The module of this name inside this one; it is made where there is none.
    pub fn named_child(self, name: &str) -> Self {
        let path = format!("{}.{name}", self.path());
        let known = lock(&PATHS).iter().position(|known| *known == path);
        match known.map(u32::try_from) {
            Some(Ok(number)) => Self(number),
            _ => self.child(name),
        }
    }

    /// What the shim knows it by.
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    /// The path, such as `layers.3.attention`.
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

    /// Runs `work` in this module: what it allocates is the module's.
    ///
    /// # Errors
    ///
    /// Those of `work`.
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

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Where an operation failed first on this thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The part of the step.
    pub phase: Phase,
    /// The module's path; empty outside of modules.
    pub module: String,
}

impl Default for Failure {
    fn default() -> Self {
        Self { phase: Phase::Setup, module: String::new() }
    }
}

thread_local! {
    static FIRST_FAILURE: RefCell<Option<Failure>> = const { RefCell::new(None) };
}

impl Failure {
    /// The innermost place that an error came through on this thread, if one did.
    ///
    /// A failure of backward happens on other threads; its module is that of the last backward node.
    pub fn first() -> Option<Self> {
        let failure = FIRST_FAILURE.with_borrow(Clone::clone)?;
        if failure.phase == Phase::Backward && failure.module.is_empty() {
            return Some(Self { module: shim::backward_place().module, ..failure });
        }
        Some(failure)
    }

    fn here() -> Self {
        let place = shim::place();
        Self { phase: Phase::from_number(place.phase), module: place.module }
    }

    /// Keeps the innermost place only: the one that is noted first.
    fn note(place: impl FnOnce() -> Self) {
        FIRST_FAILURE.with_borrow_mut(|first| {
            if first.is_none() {
                *first = Some(place());
            }
        });
    }
}
