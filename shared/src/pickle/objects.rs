//! Machine operations on objects, for the classes whose instances the builder takes as data.
//!
//! An instance is a handle of the builder. Its class is never looked up, and none of its code runs.
//! Each operation returns `None` if the builder does not take the object, which is then refused.

use super::machine::Machine;
use super::{Build, Val};

impl<B: Build> Machine<B> {
    /// Executes `STACK_GLOBAL`.
    pub(super) fn class(&mut self) -> Option<()> {
        let (name, module) = (self.pop().ok()?, self.pop().ok()?);
        let class = self.builder.class(module.as_str()?, name.as_str()?)?;
        self.push(class);
        Some(())
    }

    /// Executes `NEWOBJ` for a class without arguments.
    pub(super) fn instance(&mut self) -> Option<()> {
        let (arguments, class) = (self.pop().ok()?, self.pop().ok()?);
        let instance = self.builder.instance(class).filter(|_| arguments == Val::EMPTY_TUPLE)?;
        self.push(instance);
        Some(())
    }

    /// Executes `BUILD`.
    pub(super) fn state(&mut self) -> Option<()> {
        let state = self.pop().ok()?;
        let state = self.close(self.stack.len(), state);
        let instance = *self.stack.last()?;
        self.builder.state(instance, state, &self.heap).then_some(())
    }
}
