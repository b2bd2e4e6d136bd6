//! Lists the remedies that keys of a config express, with what each costs as far as the config tells.

use shared::allocator;
use shared::api::{FixCost, FixCostClass, FixLeftOut};
use shared::base::format::{bytes, counted};
use shared::job::{
    Attention, Bert, CnnLayer, ComputeCapability, Device, Job, Keep, Model, OptimizerImplementation, OptimizerKind,
    OptimizerStorage, Precision, RawCheckpointing, RawJob, RawLoss, RawSelected, Transformer, ZeroGrad,
};

/// Change of a config that may save memory.
pub(super) struct Remedy {
    pub(super) name: &'static str,
    /// What it does, as an imperative clause.
    pub(super) title: String,
    /// What it changes about the mathematics, as a clause.
    pub(super) changes: Option<String>,
    pub(super) cost: FixCost,
    /// Remedies of the same group cannot be applied together.
    pub(super) group: &'static str,
    /// Number of times that what it saves crosses PCIe in each step; its cost is known only from its recording.
    pub(super) transfers: u64,
    pub(super) apply: Box<dyn Fn(&mut RawJob)>,
}

/// Makes a remedy that costs nothing, changes nothing and excludes no other.
fn remedy(name: &'static str, title: impl Into<String>, apply: impl Fn(&mut RawJob) + 'static) -> Remedy {
    let (title, apply) = (title.into(), Box::new(apply));
    Remedy { name, title, changes: None, cost: FixCost::default(), group: name, transfers: 0, apply }
}

impl Remedy {
    fn grouped(self, group: &'static str) -> Self {
        Self { group, ..self }
    }

    fn costing(self, class: FixCostClass, reason: impl Into<String>) -> Self {
        Self { cost: FixCost { class, reason: reason.into() }, ..self }
    }

    fn changing(self, what: impl Into<String>) -> Self {
        Self { changes: Some(what.into()), ..self }
    }

    /// Returns the cost, given what the remedy saves.
    pub(super) fn cost_of(&self, saves_bytes: u64) -> FixCost {
        match self.transfers {
            0 => self.cost.clone(),
            times => {
                let moved = bytes(saves_bytes.saturating_mul(times));
                FixCost { reason: format!("about {moved} over PCIe in each step"), ..self.cost.clone() }
            }
        }
    }
}

/// Remedies of a config, and those that it cannot have.
#[derive(Default)]
pub(super) struct Offered {
    pub(super) remedies: Vec<Remedy>,
    pub(super) left_out: Vec<FixLeftOut>,
}

impl Offered {
    fn offer(&mut self, against: Option<&str>, remedy: Remedy) {
        match against {
            None => self.remedies.push(remedy),
            Some(reason) => self.left_out.push(FixLeftOut { name: remedy.name.to_owned(), reason: reason.to_owned() }),
        }
    }
}

pub(super) fn remedies(job: &Job) -> Offered {
    let mut offered = Offered::default();
    habits(job, &mut offered);
    recomputing(job, &mut offered);
    batches(job, &mut offered);
    numbers(job, &mut offered);
    optimizers(job, &mut offered);
    offered
}

/// Remedies that cost nothing.
fn habits(job: &Job, offered: &mut Offered) {
    let expandable = "expandable_segments:True";
    let is_set = allocator::options(&job.allocator).any(|option| option.replace(' ', "") == expandable);
    let title = "Let segments grow, so that memory is not cut into pieces that fit nothing";
    let grow = remedy("expandable-segments", title, move |raw| {
        let others = raw.allocator.as_deref().unwrap_or_default();
        let others = allocator::options(others).filter(|option| !option.trim().starts_with("expandable_segments"));
        raw.allocator = Some(others.chain([expandable]).collect::<Vec<_>>().join(","));
    });
    let grow = grow.costing(FixCostClass::None, "segments are mapped page by page");
    offered.offer(is_set.then_some("the allocator has it already"), grow);
    let has_kernel =
        attention(&job.model).is_none_or(|attention| !matches!(attention, Attention::Eager | Attention::Math));
    let title = "Compute attention in kernels that store no probabilities";
    let kernels = remedy("efficient-attention", title, |raw| {
        raw.model.get_or_insert_default().attention = Some("sdpa".to_owned());
    });
    let kernels = kernels.costing(FixCostClass::None, "fused kernels are faster, too");
    offered.offer(has_kernel.then_some("no attention of the model stores its probabilities"), kernels);
    offered.offer(
        (job.zero_grad == ZeroGrad::SetToNone).then_some("gradients are freed already"),
        remedy("set-to-none", "Free gradients after each step", |raw| raw.set_to_none = Some(true)),
    );
    let title = "Delete the model's outputs once the loss is computed";
    offered.offer(
        (!job.keep_outputs).then_some("the outputs are freed already"),
        remedy("release-outputs", title, |raw| raw.keep_outputs = Some(false)),
    );
    let builds_graphs = job.evaluation.is_some_and(|evaluation| !evaluation.no_grad);
    let no_grad = remedy("no-grad", "Evaluate under torch.no_grad()", |raw| {
        raw.evaluation.get_or_insert_default().no_grad = Some(true);
    });
    let no_grad = no_grad.costing(FixCostClass::None, "no graphs are built");
    offered.offer((!builds_graphs).then_some("no evaluation builds graphs"), no_grad);
}

/// Remedies that compute something twice.
fn recomputing(job: &Job, offered: &mut Offered) {
    let work = Work::of(job);
    let is_full = job.checkpointing && job.saving.checkpoint_every == 1 && job.saving.keep == Keep::Nothing;
    let again = |remedy: Remedy, layers: &str, share: f64| {
        let work = work.as_ref().map(|work| format!(", about {} in each step", flops(work.forward * share)));
        let reason = format!("a second forward pass of {layers}{}", work.unwrap_or_default());
        remedy.grouped("checkpoint").costing(FixCostClass::Moderate, reason)
    };
    let title = "Compute the activations of every second layer again in backward";
    let half = remedy("checkpoint-half", title, |raw| {
        let every_second = RawSelected { every: Some(2), ..RawSelected::default() };
        raw.checkpointing = Some(RawCheckpointing::Selected(every_second));
    });
    let against = job.checkpointing.then_some("layers are checkpointed already");
    offered.offer(against, again(half, "half of the layers", 0.5));
    let title = "Compute the activations of each layer again in backward";
    let all = remedy("checkpoint", title, |raw| raw.checkpointing = Some(RawCheckpointing::All(true)));
    let against = is_full.then_some("all layers are checkpointed already");
    offered.offer(against, again(all, "all layers", 1.0));
    let against = match &job.model {
        _ if job.saving.loss_chunks.is_some() => Some("the loss has chunks already"),
        Model::Transformer(_) => None,
        _ => Some("only models of the family `transformer` can have it"),
    };
    let title = "Compute head and loss in chunks, so that the logits of all tokens never exist together";
    let mut chunks = remedy("loss-chunks", title, |raw| raw.loss = Some(RawLoss { chunks: Some(8) }));
    if let Some(Work { forward, head }) = work {
        let class = if head / forward < 0.3 { FixCostClass::Small } else { FixCostClass::Moderate };
        chunks = chunks.costing(class, format!("the head runs twice, about {} in each step", flops(head)));
    }
    offered.offer(against, chunks);
    let title = "Keep activations in host memory until backward needs them";
    let offload = remedy("offload-activations", title, |raw| raw.offload_activations = Some(true));
    offered.offer(
        job.saving.offload_activations.then_some("activations wait in host memory already"),
        Remedy { transfers: 2 * job.accumulation, ..offload.costing(FixCostClass::Large, "") },
    );
}

/// Remedies that cut a batch into micro batches.
fn batches(job: &Job, offered: &mut Offered) {
    let (batch, accumulation) = (job.batch, job.accumulation);
    let parts = [(2, "microbatch-2"), (4, "microbatch-4"), (8, "microbatch-8")];
    if parts.iter().all(|(parts, _)| batch % parts != 0) {
        let reason = format!("a batch of {} has no 2, 4 or 8 equal parts", counted(batch, "sample"));
        offered.left_out.push(FixLeftOut { name: "microbatch".to_owned(), reason });
    }
    for (parts, name) in parts.into_iter().filter(|(parts, _)| batch % parts == 0) {
        let (samples, passes) = (batch / parts, accumulation * parts);
        let of = counted(samples, "sample");
        let apply = move |raw: &mut RawJob| (raw.batch, raw.accumulation) = (Some(samples), Some(passes));
        let mut micro = remedy(name, format!("Sum the gradients of {passes} micro batches of {of}"), apply)
            .grouped("microbatch")
            .costing(FixCostClass::Small, format!("{passes} passes of {of}, with smaller kernels"));
        if has_batch_norm(&job.model) {
            micro = micro.changing(format!("batch norm takes its statistics of {of} instead of {batch}"));
        }
        offered.offer(None, micro);
    }
}

/// Remedies that compute with fewer bits.
fn numbers(job: &Job, offered: &mut Offered) {
    let is_wide = matches!(job.precision, Precision::Fp32 | Precision::Tf32);
    let ampere = ComputeCapability { major: 8, minor: 0 };
    let has_bf16 =
        matches!(&job.device, Device::Virtual(cards) if cards.0.iter().all(|card| card.capability >= ampere));
    let (word, half) = if has_bf16 { ("autocast-bf16", "bfloat16") } else { ("autocast-fp16", "float16") };
    let mut offer = |against: Option<&str>, remedy: Remedy| {
        let faster = "matrix products of 16 bits are faster";
        offered.offer(against, remedy.grouped("precision").costing(FixCostClass::None, faster));
    };
    let autocast = remedy("autocast", format!("Run operations under autocast in {half}"), move |raw| {
        raw.precision = Some(word.to_owned());
    });
    offer(
        (!is_wide).then_some("activations have 16 bits already"),
        autocast.changing(format!("activations and matrix products have the precision of {half}")),
    );
    let against = match job.precision {
        Precision::Bf16 => Some("weights have 16 bits already"),
        _ if !has_bf16 => Some("the card computes no bfloat16"),
        _ => None,
    };
    let weights = remedy("bf16-weights", "Keep weights, gradients and optimizer state in bfloat16", |raw| {
        (raw.precision, raw.grad_scaler) = (Some("bf16".to_owned()), None);
    });
    offer(against, weights.changing("weights and their updates have the precision of bfloat16"));
}

/// Remedies of the optimizer, of which one can be chosen.
fn optimizers(job: &Job, offered: &mut Offered) {
    let optimizer = &job.optimizer;
    let is_sgd = matches!(optimizer.kind, OptimizerKind::Sgd);
    let on_device = optimizer.storage == OptimizerStorage::Device;
    let mut offer = |against: Option<&str>, remedy: Remedy| offered.offer(against, remedy.grouped("optimizer"));
    let against_fused = match optimizer.implementation {
        OptimizerImplementation::Fused => Some("the optimizer is fused already"),
        _ if !on_device => Some("the state is not on the device in its full format"),
        _ => None,
    };
    let fused = remedy("fused", "Run the optimizer's step without temporary copies", |raw| {
        raw.optimizer.get_or_insert_default().implementation = Some("fused".to_owned());
    });
    offer(against_fused, fused.costing(FixCostClass::None, "one kernel for the whole step"));
    let against_8bit = match optimizer.storage {
        _ if is_sgd => Some("only adam and adamw have 8-bit state"),
        OptimizerStorage::Device => None,
        OptimizerStorage::EightBit => Some("the state has 8 bits already"),
        OptimizerStorage::Host { .. } => Some("the state is in host memory"),
    };
    let eight_bit = remedy("adam-8bit", "Keep the optimizer's state in 8 bits", |raw| {
        let optimizer = raw.optimizer.get_or_insert_default();
        (optimizer.state, optimizer.implementation) = (Some("8bit".to_owned()), None);
    });
    let eight_bit = eight_bit.costing(FixCostClass::Small, "one kernel for each parameter");
    offer(against_8bit, eight_bit.changing("the running averages are rounded to 8 bits"));
    let number_bytes = if job.precision == Precision::Bf16 { 2 } else { 4 };
    let moved = bytes(job.trained_parameters().saturating_mul(2 * number_bytes));
    let frees_gradients = job.accumulation == 1;
    let offload = remedy("offload-optimizer", "Keep the optimizer's state and its step on the host", move |raw| {
        let optimizer = raw.optimizer.get_or_insert_default();
        (optimizer.offload, optimizer.implementation) = (Some(true), None);
        // Gradients of a later pass add to those of an earlier one.
        optimizer.offload_gradients = frees_gradients.then_some(true);
    });
    let over = format!("{moved} over PCIe in each step, and its computation on the host");
    offer(
        (!on_device).then_some("the state is not on the device in its full format"),
        offload.costing(FixCostClass::Large, over),
    );
    let sgd = remedy("sgd", "Train with SGD, which keeps no state", |raw| {
        let rate = raw.optimizer.as_ref().and_then(|optimizer| optimizer.learning_rate);
        let optimizer = raw.optimizer.insert(Default::default());
        (optimizer.kind, optimizer.learning_rate) = (Some("sgd".to_owned()), rate);
    });
    let sgd = sgd.changing("it is another optimizer, which needs another learning rate");
    offer(is_sgd.then_some("the optimizer is SGD already"), sgd);
}

const fn attention(model: &Model) -> Option<Attention> {
    match model {
        Model::Transformer(Transformer { attention, .. }) | Model::Bert(Bert { attention, .. }) => Some(*attention),
        _ => None,
    }
}

fn has_batch_norm(model: &Model) -> bool {
    match model {
        Model::ResNet(_) => true,
        Model::Cnn(cnn) => cnn.layers.iter().any(|layer| matches!(layer, CnnLayer::Norm)),
        _ => false,
    }
}

/// Floating-point operations of a step's forward passes.
struct Work {
    forward: f64,
    /// Those of the head.
    head: f64,
}

impl Work {
    /// Returns the work of a model of tokens: a product and a sum for each parameter and token, and those of attention.
    fn of(job: &Job) -> Option<Self> {
        let (layers, hidden, vocabulary) = match &job.model {
            Model::Transformer(model) => (model.layers, model.hidden, model.vocabulary),
            Model::Bert(model) => (model.layers, model.hidden, model.vocabulary),
            _ => return None,
        };
        let tokens = job.batch as f64 * job.sequence as f64 * job.accumulation as f64;
        let of_attention = 4.0 * layers as f64 * hidden as f64 * job.sequence as f64;
        let head = 2.0 * hidden as f64 * vocabulary as f64 * tokens;
        Some(Self { forward: (2.0 * job.parameters() as f64 + of_attention) * tokens, head })
    }
}

/// Formats a number of floating-point operations: `3.4 TFLOP`.
fn flops(number: f64) -> String {
    const UNITS: [&str; 5] = ["MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"];
    let mut value = number / 1e6;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1000.0, unit + 1);
    }
    let digits = if value < 10.0 { 1 } else { 0 };
    format!("{value:.digits$} {}", UNITS[unit])
}
