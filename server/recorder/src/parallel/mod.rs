//! Several devices: a network wrapped as PyTorch wraps it for them.
//!
//! `ddp` averages gradients among processes, `zero` gives each a share of the optimizer's state, and `fsdp` a part of
//! each parameter; one of the processes is recorded.
//!
//! `nn.DataParallel` is here: each device runs a replica of the model on its part of the batch, in one process.
//! Weights, gradients, optimizer and loss are on the first device, which therefore needs the most memory.
//! Python runs the replicas on threads of their own; here they take turns, which is the same to each device.

mod copies;
mod ddp;
pub mod fsdp;
mod pipeline;
mod tensor;
mod traffic;
mod zero;

use std::rc::Rc;

use shared::job::{Gather, Job, Parallel};
use tch::{Device, Tensor};

pub(crate) use self::copies::Copies;
pub(crate) use self::pipeline::pipeline;
pub(crate) use self::tensor::{Readers, TensorParallel, wait};
pub(crate) use self::zero::share;
use crate::Result;
use crate::builder::Builder;
use crate::model::{self, Batch, Network, Output};
use crate::pass::Pass;
use crate::place::{Module, Phase};
use crate::shim;

/// A model and what its replicas are made from.
struct DataParallel {
    job: Job,
    gather: Gather,
    network: Box<dyn Network>,
    builder: Builder,
    copies: Vec<Rc<Copies>>,
    parameters: Vec<(Module, Tensor)>,
    buffers: Vec<(Module, Tensor)>,
}

/// What a replica returns, and its thread passes on.
struct Returned {
    loss: Option<Tensor>,
    output: Option<Output>,
}

/// The network as the job has it on several devices, or in one of several processes.
///
/// # Errors
///
/// There is no memory for what that takes.
pub(crate) fn wrap(job: &Job, network: Box<dyn Network>, builder: &Builder) -> Result<Box<dyn Network>> {
    if let Some((rank, config)) = job.parallel.and_then(|parallel| parallel.ddp()) {
        return Ok(Box::new(ddp::Ddp::new(job, rank, config, network, builder)?));
    }
    if let Some(root) = builder.shards() {
        return Ok(Box::new(fsdp::FullyShard::new(job, root, network)));
    }
    Ok(replicated(job, network, builder))
}

/// The network on all devices of the job, where it has several.
fn replicated(job: &Job, network: Box<dyn Network>, builder: &Builder) -> Box<dyn Network> {
    let Some(Parallel::DataParallel { devices, gather }) = job.parallel else { return network };
    shim::use_devices(i32::try_from(devices).unwrap_or(i32::MAX));
    let replicas = Module::root("replicas");
    let copies = (0..devices).map(|device| Rc::new(Copies::new(replicas.child(&device.to_string())))).collect();
    let [parameters, buffers] = builder.tensors();
    Box::new(DataParallel { job: job.clone(), gather, network, builder: builder.clone(), copies, parameters, buffers })
}

impl DataParallel {
    /// The parts of a batch, a batch for each device; what the replicas do not read stays where it is.
    fn scatter(&self, batch: &Batch) -> Result<Vec<Batch>> {
        let read = if self.computes_losses() { batch.len() } else { 1 };
        let devices = self.devices(self.copies.len());
        let mut parts: Vec<Batch> = Vec::new();
        for (name, tensor) in &batch[..read] {
            let tensors = Module::named("scatter").run(|| traffic::scatter(tensor, &devices))?;
            parts.resize_with(tensors.len(), Vec::new);
            parts.iter_mut().zip(tensors).for_each(|(part, tensor)| part.push((*name, tensor)));
        }
        Ok(parts)
    }

    /// Whether each replica computes the loss of its part.
    fn computes_losses(&self) -> bool {
        self.gather == Gather::Losses || self.network.output_holds_loss()
    }

    fn devices(&self, count: usize) -> Vec<i64> {
        (0_i64..).take(count).collect()
    }

    /// A replica on each of the first devices, built anew from copies of what the model has at this time.
    fn replicate(&self, count: usize) -> Result<Vec<Box<dyn Network>>> {
        let devices = self.devices(count);
        for list in [&self.parameters, &self.buffers] {
            let tensors: Vec<_> = list.iter().map(|(_, tensor)| tensor).collect();
            let mut copied = Module::named("replicate").run(|| traffic::broadcast(&tensors, &devices))?.into_iter();
            for copies in &self.copies[..count] {
                copies.put(list.iter().map(|(module, _)| *module).zip(copied.by_ref()));
            }
        }
        let build = |(copies, device): (&Rc<Copies>, usize)| {
            let builder = self.builder.replica(Device::Cuda(device), Rc::clone(copies));
            let replica = model::build(&self.job, &builder);
            copies.clear();
            replica
        };
        self.copies.iter().zip(0..count).map(build).collect()
    }

    /// One replica's forward pass; a model that computes its loss itself does so on each device.
    fn run(&self, replica: &dyn Network, batch: &Batch, pass: &Pass) -> Result<Returned> {
        let mut output = replica.forward(batch, pass)?;
        if !self.computes_losses() {
            return Ok(Returned { loss: None, output: Some(output) });
        }
        let loss = Phase::Loss.run(|| replica.loss(&output, batch))?;
        output.locals.clear();
        Ok(Returned { loss: Some(loss), output: (self.gather == Gather::Outputs).then_some(output) })
    }

    /// What the replicas return, together on the first device: losses, logits, and the cache layer by layer.
    fn gather(&self, returned: &[Returned]) -> Result<Output> {
        let losses: Option<Vec<_>> = returned.iter().map(|part| part.loss.as_ref()).collect();
        let losses = losses.map(|losses| traffic::gather(&losses)).transpose()?;
        let outputs: Vec<_> = returned.iter().filter_map(|part| part.output.as_ref()).collect();
        if let (Some(losses), true) = (&losses, outputs.is_empty()) {
            return Ok(Output { locals: Vec::new(), logits: losses.shallow_clone(), kept: Vec::new() });
        }
        let logits = traffic::gather(&outputs.iter().map(|output| &output.logits).collect::<Vec<_>>())?;
        let part = |index: usize| -> Result<Tensor> {
            traffic::gather(&outputs.iter().map(|output| &output.kept[index]).collect::<Vec<_>>())
        };
        let mut kept = Vec::from_iter(losses);
        let mut pair = None;
        for layer in 0..outputs.first().map_or(0, |output| output.kept.len() / 2) {
            let (key, value) = &*pair.insert((part(2 * layer)?, part(2 * layer + 1)?));
            // The new cache is filled as one is in a forward pass: by appending to nothing at all.
            let nothing = Tensor::f_empty([0], (key.kind(), key.device()))?;
            kept.push(Tensor::f_cat(&[&nothing, key], -2)?);
            kept.push(Tensor::f_cat(&[&nothing, value], -2)?);
        }
        Ok(Output { locals: Vec::new(), logits, kept })
    }
}

impl Network for DataParallel {
    fn batch(&self, samples: i64) -> Result<Batch> {
        self.network.batch(samples)
    }

    fn forward(&self, batch: &Batch, pass: &Pass) -> Result<Output> {
        let inputs = self.scatter(batch)?;
        let replicas = self.replicate(inputs.len())?;
        let runs = replicas.iter().zip(&inputs).map(|(replica, batch)| self.run(&**replica, batch, pass));
        let returned = runs.collect::<Result<Vec<_>>>()?;
        let output = Module::named("gather").run(|| self.gather(&returned));
        drop((inputs, replicas, returned));
        output
    }

    /// The mean of the replicas' losses, or the loss of the logits that were gathered.
    fn loss(&self, output: &Output, batch: &Batch) -> Result<Tensor> {
        if self.gather == Gather::Losses {
            return Module::named("cross_entropy").run(|| output.logits.f_mean(None));
        }
        if self.network.output_holds_loss() {
            return Module::named("cross_entropy").run(|| output.kept[0].f_mean(None));
        }
        self.network.loss(output, batch)
    }
}
