//! Runs a network on several devices or processes, wrapped as PyTorch wraps it.
//!
//! `ddp` averages gradients among processes, and `fsdp` gives each a shard of each parameter; one of the processes is
//! recorded.
//!
//! This file has `nn.DataParallel`: each device runs a replica of the model on its part of the batch, in one process.
//! Weights, gradients, optimizer and loss are on the first device, which therefore needs the most memory. Python runs
//! each replica on a thread of its own; here they run one after the other, which makes no difference to each device.
//!
//! A rank runs alone, with one device, and with PyTorch's own code wherever that is C++: `ddp` runs c10d's `Reducer`
//! over a process group in which every other rank has the same data as this one, and what the group reads from the
//! device is real in that case (`SNAPSCOPE_VIRTUAL_GPU_VALUES=shadow`).
//! Parameters are created shard by shard, so that a model can be larger than the GPU and than the memory of this
//! machine.

mod ddp;
pub mod fsdp;
mod replicas;

use std::rc::Rc;

use shared::job::{Gather, Job, Parallel};
use tch::{Device, Tensor};

pub(crate) use self::replicas::Copies;
use crate::Result;
use crate::builder::Builder;
use crate::model::{self, Batch, Network, Output};
use crate::pass::Pass;
use crate::place::{Module, Phase};
use crate::shim;

/// A model with the tensors from which its replicas are built.
struct DataParallel {
    job: Job,
    gather: Gather,
    network: Box<dyn Network>,
    builder: Builder,
    copies: Vec<Rc<Copies>>,
    parameters: Vec<(Module, Tensor)>,
    buffers: Vec<(Module, Tensor)>,
}

/// Result of a replica's forward pass.
struct Returned {
    loss: Option<Tensor>,
    output: Option<Output>,
}

/// Wraps the network for several devices or processes, if the job uses them.
pub(crate) fn wrap(job: &Job, network: Box<dyn Network>, builder: &Builder) -> Result<Box<dyn Network>> {
    if let Some((rank, config)) = job.parallel.and_then(|parallel| parallel.ddp()) {
        return Ok(Box::new(ddp::Ddp::new(job, rank, config, network, builder)?));
    }
    if let Some(root) = builder.shards {
        return Ok(Box::new(fsdp::FullyShard::new(job, root, network)));
    }
    let Some(Parallel::DataParallel { devices, gather }) = job.parallel else { return Ok(network) };
    shim::use_devices(i32::try_from(devices).unwrap_or(i32::MAX));
    let replicas = Module::root("replicas");
    let copies = (0..devices).map(|device| Rc::new(Copies::new(replicas.child(&device.to_string())))).collect();
    let [parameters, buffers] = builder.tensors();
    let (job, builder) = (job.clone(), builder.clone());
    Ok(Box::new(DataParallel { job, gather, network, builder, copies, parameters, buffers }))
}

impl DataParallel {
    /// Splits a batch into one batch for each device; tensors that replicas do not read stay where they are.
    fn scatter(&self, batch: &Batch) -> Result<Vec<Batch>> {
        let read = if self.computes_losses() { batch.len() } else { 1 };
        let devices = self.devices(self.copies.len());
        let mut parts: Vec<Batch> = Vec::new();
        for (name, tensor) in &batch[..read] {
            let tensors = Module::named("scatter").run(|| replicas::scatter(tensor, &devices))?;
            parts.resize_with(tensors.len(), Vec::new);
            parts.iter_mut().zip(tensors).for_each(|(part, tensor)| part.push((*name, tensor)));
        }
        Ok(parts)
    }

    /// Returns true if each replica computes the loss of its part.
    fn computes_losses(&self) -> bool {
        self.gather == Gather::Losses || self.network.output_holds_loss()
    }

    fn devices(&self, count: usize) -> Vec<i64> {
        (0_i64..).take(count).collect()
    }

    /// Builds a replica on each of the first `count` devices from copies of the model's current tensors.
    fn replicate(&self, count: usize) -> Result<Vec<Box<dyn Network>>> {
        let devices = self.devices(count);
        for list in [&self.parameters, &self.buffers] {
            let tensors: Vec<_> = list.iter().map(|(_, tensor)| tensor).collect();
            let mut copied = Module::named("replicate").run(|| replicas::broadcast(&tensors, &devices))?.into_iter();
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

    /// Runs the forward pass of one replica, and its loss if the model computes that itself.
    fn run(&self, replica: &dyn Network, batch: &Batch, pass: &Pass) -> Result<Returned> {
        let mut output = replica.forward(batch, pass)?;
        if !self.computes_losses() {
            return Ok(Returned { loss: None, output: Some(output) });
        }
        let loss = Phase::Loss.run(|| replica.loss(&output, batch))?;
        output.locals.clear();
        Ok(Returned { loss: Some(loss), output: (self.gather == Gather::Outputs).then_some(output) })
    }

    /// Gathers the results of the replicas on the first device: losses, logits, and the cache layer by layer.
    fn gather(&self, returned: &[Returned]) -> Result<Output> {
        let losses: Option<Vec<_>> = returned.iter().map(|part| part.loss.as_ref()).collect();
        let losses = losses.map(|losses| replicas::gather(&losses)).transpose()?;
        let outputs: Vec<_> = returned.iter().filter_map(|part| part.output.as_ref()).collect();
        if let (Some(losses), true) = (&losses, outputs.is_empty()) {
            return Ok(Output { locals: Vec::new(), logits: losses.shallow_clone(), kept: Vec::new() });
        }
        let logits = replicas::gather(&outputs.iter().map(|output| &output.logits).collect::<Vec<_>>())?;
        let part = |index: usize| -> Result<Tensor> {
            replicas::gather(&outputs.iter().map(|output| &output.kept[index]).collect::<Vec<_>>())
        };
        let mut kept = Vec::from_iter(losses);
        let mut pair = None;
        for layer in 0..outputs.first().map_or(0, |output| output.kept.len() / 2) {
            let (key, value) = &*pair.insert((part(2 * layer)?, part(2 * layer + 1)?));
            // A new cache is filled as in a forward pass: by concatenation to an empty tensor.
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

    /// Computes the mean of the replicas' losses, or the loss of the gathered logits.
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
