//! Builds a model: allocates its parameters and buffers on the device in the order of `model.to("cuda")`.
//!
//! Python builds a model in host memory and moves it; the allocations on the device are the same. Values are set by
//! in-place kernels, so that nothing else is allocated.

use std::cell::RefCell;
use std::rc::Rc;

use shared::job::Lora;
use tch::{Device, Kind, Tensor};

use crate::Result;
use crate::numbers::Numbers as _;
use crate::parallel::{Copies, fsdp};
use crate::place::Module;

#[derive(Debug)]
pub struct Parameter {
    /// Place of the parameter, such as `layers.3.attention.qkv.weight`.
    pub module: Module,
    /// Tensor that requires a gradient.
    pub tensor: Tensor,
}

/// Initial values of a new tensor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Init {
    Constant(f64),
    /// Normal distribution around 0 with this standard deviation.
    Normal(f64),
    /// Uniform distribution between minus and plus this bound.
    Uniform(f64),
}

impl Init {
    fn fill(self, tensor: &mut Tensor) -> Result<()> {
        match self {
            Self::Constant(value) => tensor.fill_number_(value)?,
            Self::Normal(deviation) => drop(tensor.f_normal_(0.0, deviation)?),
            Self::Uniform(bound) => drop(tensor.f_uniform_(-bound, bound)?),
        }
        Ok(())
    }
}

/// Factory of the tensors of one module, and of the builders of its submodules.
#[derive(Debug, Clone)]
pub struct Builder {
    module: Option<Module>,
    device: Device,
    /// Dtype of parameters.
    pub(crate) kind: Kind,
    /// Adapters of linear layers.
    pub(crate) lora: Option<Rc<Lora>>,
    frozen: bool,
    parameters: Rc<RefCell<Vec<Parameter>>>,
    buffers: Rc<RefCell<Vec<Parameter>>>,
    copies: Option<Rc<Copies>>,
    /// Group that parameters belong to, if they are sharded.
    pub(crate) shards: Option<fsdp::Group>,
}

impl Builder {
    /// Creates the builder of a model whose parameters have the dtype `kind`.
    ///
    /// Adapters freeze the rest of the model; with a group the parameters are sharded.
    pub(crate) fn new(device: Device, kind: Kind, lora: Option<Lora>, shards: Option<fsdp::Group>) -> Self {
        Self {
            module: None,
            device,
            kind,
            frozen: lora.is_some(),
            lora: lora.map(Rc::new),
            parameters: Rc::default(),
            buffers: Rc::default(),
            copies: None,
            shards,
        }
    }

    /// Returns a builder for a block of the model, and the block, which gathers its parameters if they are sharded.
    pub fn block(&self) -> (Self, fsdp::Block) {
        let block = fsdp::Block::new(self.shards, self.module());
        (Self { shards: block.group, ..self.clone() }, block)
    }

    /// Returns a builder for trainable parts of this module, with parameters of the dtype `kind`.
    pub fn trained(&self, kind: Kind) -> Self {
        Self { frozen: false, kind, ..self.clone() }
    }

    /// Returns the builder of a replica on another device, whose modules take `copies` instead of new tensors.
    pub(crate) fn replica(&self, device: Device, copies: Rc<Copies>) -> Self {
        Self {
            module: Some(copies.root()),
            device,
            parameters: Rc::default(),
            buffers: Rc::default(),
            copies: Some(copies),
            ..self.clone()
        }
    }

    /// Returns the parameters that were created so far, and the buffers.
    pub(crate) fn tensors(&self) -> [Vec<(Module, Tensor)>; 2] {
        let share = |list: &[Parameter]| list.iter().map(|made| (made.module, made.tensor.shallow_clone())).collect();
        [share(&self.parameters.borrow()), share(&self.buffers.borrow())]
    }

    /// Returns the builder of a submodule.
    pub fn child(&self, name: &str) -> Self {
        if let (Some(copies), Some(parent)) = (&self.copies, self.module) {
            return Self { module: Some(copies.module(parent, name)), ..self.clone() };
        }
        let module = self.module.map_or_else(|| Module::root(name), |parent| parent.child(name));
        Self { module: Some(module), ..self.clone() }
    }

    /// Returns the module that is built.
    ///
    /// # Panics
    ///
    /// Panics for the builder of the model itself, which has no place of its own.
    pub fn module(&self) -> Module {
        self.module.expect("the model itself is no module: ask a child")
    }

    /// Creates a parameter of this module; a frozen one is not part of [`Builder::into_parameters`].
    pub fn parameter(&self, name: &str, shape: &[i64], init: Init) -> Result<Tensor> {
        if let Some(copies) = &self.copies {
            return copies.take(self.child(name).module());
        }
        if let Some(group) = self.shards {
            return self.sharded(group, name, shape, init);
        }
        let tensor = self.tensor(name, shape, self.kind, init)?;
        if self.frozen {
            return Ok(tensor);
        }
        let tensor = tensor.f_set_requires_grad(true)?;
        let module = self.child(name).module();
        self.parameters.borrow_mut().push(Parameter { module, tensor: tensor.shallow_clone() });
        Ok(tensor)
    }

    /// Creates a bias of this module with a number for each output, if the module has one.
    pub fn bias(&self, has_bias: bool, outputs: i64, init: Init) -> Result<Option<Tensor>> {
        if has_bias { self.parameter("bias", &[outputs], init).map(Some) } else { Ok(None) }
    }

    /// Creates a sharded parameter: the optimizer steps the shard of this process, and layers read the whole.
    fn sharded(&self, group: fsdp::Group, name: &str, shape: &[i64], init: Init) -> Result<Tensor> {
        let module = self.child(name).module();
        let fsdp::Sharded { shard, whole } = module.run(|| group.parameter(module, shape, self.kind))?;
        tch::no_grad(|| init.fill(&mut shard.shallow_clone()))?;
        self.parameters.borrow_mut().push(Parameter { module, tensor: shard });
        Ok(whole)
    }

    /// Creates the submodules of a module, then its own parameters, but lists its own parameters first.
    ///
    /// Python has the same difference: `to("cuda")` moves submodules first, and `parameters()` yields a module's own
    /// first.
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

    /// Creates a tensor of this module that is not trained, with a dtype of its own.
    pub fn buffer(&self, name: &str, shape: &[i64], kind: Kind, init: Init) -> Result<Tensor> {
        if let Some(copies) = &self.copies {
            return copies.take(self.child(name).module());
        }
        let tensor = self.tensor(name, shape, kind, init)?;
        let module = self.child(name).module();
        self.buffers.borrow_mut().push(Parameter { module, tensor: tensor.shallow_clone() });
        Ok(tensor)
    }

    fn tensor(&self, name: &str, shape: &[i64], kind: Kind, init: Init) -> Result<Tensor> {
        self.child(name).module().run(|| {
            let mut tensor = Tensor::f_empty(shape, (kind, self.device))?;
            init.fill(&mut tensor)?;
            Ok(tensor)
        })
    }

    /// Takes the trainable parameters that were created so far, in order.
    pub fn into_parameters(self) -> Vec<Parameter> {
        std::mem::take(&mut *self.parameters.borrow_mut())
    }
}
