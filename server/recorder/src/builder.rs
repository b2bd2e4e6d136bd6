//! Building a model: parameters and buffers come into being on the device, in the order of `model.to("cuda")`.
//!
//! Python builds a model in host memory and moves it; the device sees the same allocations either way.
//! Values are set by kernels that work in place, so that nothing else is allocated.

use std::cell::RefCell;
use std::rc::Rc;

use tch::{Device, Kind, Tensor};

use crate::Result;
use crate::numbers::Numbers as _;
use crate::place::Module;

/// A parameter of the model.
#[derive(Debug)]
pub struct Parameter {
    /// Its place, such as `layers.3.attention.qkv.weight`.
    pub module: Module,
    /// The tensor; it requires a gradient.
    pub tensor: Tensor,
}

/// The values that a new tensor has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Init {
    /// All the same.
    Constant(f64),
    /// Normally distributed around 0 with this deviation.
    Normal(f64),
    /// Uniform between minus and plus this bound.
    Uniform(f64),
}

/// Makes the tensors of one module, and the builders of the modules inside it.
#[derive(Debug, Clone)]
pub struct Builder {
    module: Option<Module>,
    device: Device,
    kind: Kind,
    parameters: Rc<RefCell<Vec<Parameter>>>,
}

impl Builder {
    /// The builder of a model whose parameters have this number format.
    pub fn new(device: Device, kind: Kind) -> Self {
        Self { module: None, device, kind, parameters: Rc::default() }
    }

    /// The builder of a module inside this one.
    pub fn child(&self, name: &str) -> Self {
        let module = self.module.map_or_else(|| Module::root(name), |parent| parent.child(name));
        Self { module: Some(module), ..self.clone() }
    }

    /// The module that is built; `None` is the model itself.
    ///
    /// # Panics
    ///
    /// This is the builder of the model itself, which is no place of its own.
    pub fn module(&self) -> Module {
        self.module.expect("the model itself is no module: ask a child")
    }

    /// The device that tensors are made on.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The number format of parameters.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// A parameter of this module.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    pub fn parameter(&self, name: &str, shape: &[i64], init: Init) -> Result<Tensor> {
        let tensor = self.tensor(name, shape, self.kind, init)?.f_set_requires_grad(true)?;
        let module = self.child(name).module();
        self.parameters.borrow_mut().push(Parameter { module, tensor: tensor.shallow_clone() });
        Ok(tensor)
    }

    /// Makes the modules inside a module, then its own parameters; a list of parameters has its own first.
    ///
    /// In Python too `to("cuda")` begins inside, and `parameters()` outside.
    ///
    /// # Errors
    ///
    /// Those of the two.
    pub fn inside_first<I, O>(
        &self,
        inside: impl FnOnce() -> Result<I>,
        own: impl FnOnce() -> Result<O>,
    ) -> Result<(I, O)> {
        let count = || self.parameters.borrow().len();
        let start = count();
        let inside = inside()?;
        let middle = count();
        let own = own()?;
        self.parameters.borrow_mut()[start..].rotate_left(middle - start);
        Ok((inside, own))
    }

    /// A tensor of this module that is not trained, in a number format of its own.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    pub fn buffer(&self, name: &str, shape: &[i64], kind: Kind, init: Init) -> Result<Tensor> {
        self.tensor(name, shape, kind, init)
    }

    fn tensor(&self, name: &str, shape: &[i64], kind: Kind, init: Init) -> Result<Tensor> {
        self.child(name).module().run(|| {
            let mut tensor = Tensor::f_empty(shape, (kind, self.device))?;
            match init {
                Init::Constant(value) => tensor.fill_number_(value)?,
                Init::Normal(deviation) => drop(tensor.f_normal_(0.0, deviation)?),
                Init::Uniform(bound) => drop(tensor.f_uniform_(-bound, bound)?),
            }
            Ok(tensor)
        })
    }

    /// Takes the parameters that were made so far, in order.
    pub fn into_parameters(self) -> Vec<Parameter> {
        std::mem::take(&mut *self.parameters.borrow_mut())
    }
}
