//! Building a model: parameters and buffers come into being on the device, in the order of `model.to("cuda")`.
//!
//! Python builds a model in host memory and moves it; the device sees the same allocations either way.
//! Values are set by kernels that work in place, so that nothing else is allocated.

use std::cell::RefCell;
use std::rc::Rc;

use shared::job::Lora;
use tch::{Device, Kind, Tensor};

use crate::Result;
use crate::mistake::Inside;
use crate::numbers::Numbers as _;
use crate::parallel::{Copies, TensorParallel, fsdp};
use crate::place::Module;

/// A parameter of the model.
#[derive(Debug)]
pub struct Parameter {
    /// Its place, such as `layers.3.attention.qkv.weight`.
    pub module: Module,
    /// The tensor; it requires a gradient.
    pub tensor: Tensor,
    /// Which part of it this process has.
    pub holding: Holding,
}

/// Which part of a parameter, and of its gradient, a process of a tensor-parallel group has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holding {
    /// All of both: wherever nothing is divided.
    All,
    /// Its rows or columns of both.
    Part,
    /// Its rows, and the gradient of all rows, whose part each reader takes; `[this process, all processes]`.
    WholeGradient([i64; 2]),
    /// All of it, and a gradient that is still to be summed over the processes, by each reader.
    GradientOfPart,
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

/// Makes the tensors of one module, and the builders of the modules inside it.
#[derive(Debug, Clone)]
pub struct Builder {
    module: Option<Module>,
    device: Device,
    kind: Kind,
    lora: Option<Rc<Lora>>,
    inside: Inside,
    frozen: bool,
    split: Option<TensorParallel>,
    holding: Holding,
    parameters: Rc<RefCell<Vec<Parameter>>>,
    buffers: Rc<RefCell<Vec<Parameter>>>,
    copies: Option<Rc<Copies>>,
    shards: Option<fsdp::Group>,
}

impl Builder {
    /// The builder of a model whose parameters have this number format.
    pub fn new(device: Device, kind: Kind) -> Self {
        Self {
            module: None,
            device,
            kind,
            lora: None,
            inside: Inside::default(),
            frozen: false,
            split: None,
            holding: Holding::All,
            parameters: Rc::default(),
            buffers: Rc::default(),
            copies: None,
            shards: None,
        }
    }

    /// The builder of a model that is frozen, if it has adapters, but for these.
    pub fn with_lora(self, lora: Option<Lora>) -> Self {
        Self { frozen: lora.is_some(), lora: lora.map(Rc::new), ..self }
    }

    /// The builder of a model whose parameters are sharded, if there is a group that they belong to.
    pub(crate) fn with_shards(self, root: Option<fsdp::Group>) -> Self {
        Self { shards: root, ..self }
    }

    /// The group that parameters belong to, where they are sharded.
    pub(crate) fn shards(&self) -> Option<fsdp::Group> {
        self.shards
    }

    /// The builder of a block inside a model, and what gathers its parameters where they are sharded.
    pub fn block(&self) -> (Self, fsdp::Block) {
        let block = fsdp::Block::new(self.shards, self.module());
        (Self { shards: block.group(), ..self.clone() }, block)
    }

    /// The builder of a model whose layers make some mistakes.
    pub fn with_inside(self, inside: Inside) -> Self {
        Self { inside, ..self }
    }

    /// The mistakes that the layers make.
    pub fn inside(&self) -> &Inside {
        &self.inside
    }

    /// The builder of one process's part of a model, where linear layers are divided.
    pub(crate) fn with_split(self, split: Option<TensorParallel>) -> Self {
        Self { split, ..self }
    }

    /// How linear layers are divided, where they are.
    pub(crate) fn split(&self) -> Option<TensorParallel> {
        self.split
    }

    /// A builder of parameters of which this process has such a part, where anything is divided.
    pub(crate) fn held(&self, holding: Holding) -> Self {
        let holding = if self.split.is_some() { holding } else { Holding::All };
        Self { holding, ..self.clone() }
    }

    /// A builder of parameters that each process has, whose gradients come of its tokens.
    pub(crate) fn held_by_tokens(&self) -> Self {
        let by_tokens = self.split.is_some_and(TensorParallel::by_tokens);
        self.held(if by_tokens { Holding::GradientOfPart } else { Holding::All })
    }

    /// A builder of trained parts of this module, whose parameters have this number format.
    pub fn trained(&self, kind: Kind) -> Self {
        Self { frozen: false, kind, ..self.clone() }
    }

    /// The adapters that linear layers have.
    pub fn lora(&self) -> Option<&Lora> {
        self.lora.as_deref()
    }

    /// The builder of a replica on another device: instead of new tensors its modules get these copies.
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

    /// The parameters that were made so far, and the buffers.
    pub(crate) fn tensors(&self) -> [Vec<(Module, Tensor)>; 2] {
        let share = |list: &[Parameter]| list.iter().map(|made| (made.module, made.tensor.shallow_clone())).collect();
        [share(&self.parameters.borrow()), share(&self.buffers.borrow())]
    }

    /// The builder of a module inside this one.
    pub fn child(&self, name: &str) -> Self {
        if let (Some(copies), Some(parent)) = (&self.copies, self.module) {
            return Self { module: Some(copies.module(parent, name)), ..self.clone() };
        }
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

    /// A parameter of this module; a frozen one is not among those that are taken.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
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
        self.parameters.borrow_mut().push(Parameter { module, tensor: tensor.shallow_clone(), holding: self.holding });
        Ok(tensor)
    }

    /// A parameter of which this process has a part: that is what the optimizer changes.
    fn sharded(&self, group: fsdp::Group, name: &str, shape: &[i64], init: Init) -> Result<Tensor> {
        let module = self.child(name).module();
        let fsdp::Sharded { shard, whole } = module.run(|| group.parameter(module, shape, self.kind))?;
        tch::no_grad(|| init.fill(&mut shard.shallow_clone()))?;
        self.parameters.borrow_mut().push(Parameter { module, tensor: shard, holding: self.holding });
        Ok(whole)
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
        if let Some(copies) = &self.copies {
            return copies.take(self.child(name).module());
        }
        let tensor = self.tensor(name, shape, kind, init)?;
        let module = self.child(name).module();
        self.buffers.borrow_mut().push(Parameter { module, tensor: tensor.shallow_clone(), holding: Holding::All });
        Ok(tensor)
    }

    fn tensor(&self, name: &str, shape: &[i64], kind: Kind, init: Init) -> Result<Tensor> {
        self.child(name).module().run(|| {
            let mut tensor = Tensor::f_empty(shape, (kind, self.device))?;
            init.fill(&mut tensor)?;
            Ok(tensor)
        })
    }

    /// Takes the parameters that were made so far to be trained, in order.
    pub fn into_parameters(self) -> Vec<Parameter> {
        std::mem::take(&mut *self.parameters.borrow_mut())
    }
}
