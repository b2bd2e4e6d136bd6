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
    pub(super) name: String,
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

impl Remedy {
    fn new(
        name: impl Into<String>,
        group: &'static str,
        title: impl Into<String>,
        (class, reason): (FixCostClass, String),
        apply: impl Fn(&mut RawJob) + 'static,
    ) -> Self {
        let cost = FixCost { class, reason };
        let (name, title) = (name.into(), title.into());
        Self { name, title, changes: None, cost, group, transfers: 0, apply: Box::new(apply) }
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
    /// Offers a remedy, unless there is a reason against it.
    fn offer(&mut self, against: Option<&str>, remedy: Remedy) {
        match against {
            None => self.remedies.push(remedy),
            Some(reason) => self.left_out.push(FixLeftOut { name: remedy.name, reason: reason.to_owned() }),
        }
    }
}

const FREE: FixCostClass = FixCostClass::None;

/// Returns the remedies that the config of a job can have.
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
    offered.offer(
        is_set.then_some("the allocator has it already"),
        Remedy::new(
            "expandable-segments",
            "allocator",
            "Let segments grow, so that memory is not cut into pieces that fit nothing",
            (FREE, "segments are mapped page by page".to_owned()),
            move |raw| {
                let others = raw.allocator.as_deref().unwrap_or_default();
                let others =
                    allocator::options(others).filter(|option| !option.trim().starts_with("expandable_segments"));
                raw.allocator = Some(others.chain([expandable]).collect::<Vec<_>>().join(","));
            },
        ),
    );
    let slow = (FREE, "fused kernels are faster, too".to_owned());
    let has_kernel =
        attention(&job.model).is_none_or(|attention| !matches!(attention, Attention::Eager | Attention::Math));
    offered.offer(
        has_kernel.then_some("no attention of the model stores its probabilities"),
        Remedy::new(
            "efficient-attention",
            "attention",
            "Compute attention in kernels that store no probabilities",
            slow,
            |raw| {
                raw.model.get_or_insert_default().attention = Some("sdpa".to_owned());
            },
        ),
    );
    offered.offer(
        (job.zero_grad == ZeroGrad::SetToNone).then_some("gradients are freed already"),
        Remedy::new("set-to-none", "set-to-none", "Free gradients after each step", (FREE, String::new()), |raw| {
            raw.set_to_none = Some(true);
        }),
    );
    offered.offer(
        (!job.keep_outputs).then_some("the outputs are freed already"),
        Remedy::new(
            "release-outputs",
            "release-outputs",
            "Delete the model's outputs once the loss is computed",
            (FREE, String::new()),
            |raw| raw.keep_outputs = Some(false),
        ),
    );
    let builds_graphs = job.evaluation.is_some_and(|evaluation| !evaluation.no_grad);
    offered.offer(
        (!builds_graphs).then_some("no evaluation builds graphs"),
        Remedy::new(
            "no-grad",
            "no-grad",
            "Evaluate under torch.no_grad()",
            (FREE, "no graphs are built".to_owned()),
            |raw| raw.evaluation.get_or_insert_default().no_grad = Some(true),
        ),
    );
}

/// Remedies that compute something twice.
fn recomputing(job: &Job, offered: &mut Offered) {
    let work = Work::of(job);
    let is_full = job.checkpointing && job.saving.checkpoint_every == 1 && job.saving.keep == Keep::Nothing;
    let again = |layers: &str, share: f64| {
        let work = work.as_ref().map(|work| format!(", about {} in each step", flops(work.forward * share)));
        (FixCostClass::Moderate, format!("a second forward pass of {layers}{}", work.unwrap_or_default()))
    };
    let title = "Compute the activations of every second layer again in backward";
    offered.offer(
        job.checkpointing.then_some("layers are checkpointed already"),
        Remedy::new("checkpoint-half", "checkpoint", title, again("half of the layers", 0.5), |raw| {
            let every_second = RawSelected { every: Some(2), ..RawSelected::default() };
            raw.checkpointing = Some(RawCheckpointing::Selected(every_second));
        }),
    );
    let title = "Compute the activations of each layer again in backward";
    offered.offer(
        is_full.then_some("all layers are checkpointed already"),
        Remedy::new("checkpoint", "checkpoint", title, again("all layers", 1.0), |raw| {
            raw.checkpointing = Some(RawCheckpointing::All(true));
        }),
    );
    let against = match &job.model {
        _ if job.saving.loss_chunks.is_some() => Some("the loss has chunks already"),
        Model::Transformer(_) => None,
        _ => Some("only models of the family `transformer` can have it"),
    };
    let head = work.as_ref().map_or_else(Default::default, |work| {
        let class = match work.head / work.forward {
            share if share < 0.3 => FixCostClass::Small,
            _ => FixCostClass::Moderate,
        };
        (class, format!("the head runs twice, about {} in each step", flops(work.head)))
    });
    let title = "Compute head and loss in chunks, so that the logits of all tokens never exist together";
    offered.offer(
        against,
        Remedy::new("loss-chunks", "loss-chunks", title, head, |raw| raw.loss = Some(RawLoss { chunks: Some(8) })),
    );
    let remedy = Remedy::new(
        "offload-activations",
        "offload-activations",
        "Keep activations in host memory until backward needs them",
        (FixCostClass::Large, String::new()),
        |raw| raw.offload_activations = Some(true),
    );
    offered.offer(
        job.saving.offload_activations.then_some("activations wait in host memory already"),
        Remedy { transfers: 2 * job.accumulation, ..remedy },
    );
}

/// Remedies that cut a batch into micro batches.
fn batches(job: &Job, offered: &mut Offered) {
    let (batch, accumulation) = (job.batch, job.accumulation);
    let mut any = false;
    for parts in [2, 4, 8].into_iter().filter(|parts| batch % parts == 0) {
        any = true;
        let (samples, passes) = (batch / parts, accumulation * parts);
        let reason = format!("{passes} passes of {}, with smaller kernels", counted(samples, "sample"));
        let remedy = Remedy::new(
            format!("microbatch-{parts}"),
            "microbatch",
            format!("Sum the gradients of {passes} micro batches of {}", counted(samples, "sample")),
            (FixCostClass::Small, reason),
            move |raw| (raw.batch, raw.accumulation) = (Some(samples), Some(passes)),
        );
        let changed = has_batch_norm(&job.model)
            .then(|| format!("batch norm takes its statistics of {} instead of {batch}", counted(samples, "sample")));
        offered.offer(None, Remedy { changes: changed, ..remedy });
    }
    if !any {
        let reason = format!("a batch of {} has no 2, 4 or 8 equal parts", counted(batch, "sample"));
        offered.left_out.push(FixLeftOut { name: "microbatch".to_owned(), reason });
    }
}

/// Remedies that compute with fewer bits.
fn numbers(job: &Job, offered: &mut Offered) {
    let is_wide = matches!(job.precision, Precision::Fp32 | Precision::Tf32);
    let ampere = ComputeCapability { major: 8, minor: 0 };
    let has_bf16 =
        matches!(&job.device, Device::Virtual(cards) if cards.0.iter().all(|card| card.capability >= ampere));
    let (word, half) = if has_bf16 { ("autocast-bf16", "bfloat16") } else { ("autocast-fp16", "float16") };
    let faster = || (FREE, "matrix products of 16 bits are faster".to_owned());
    offered.offer(
        (!is_wide).then_some("activations have 16 bits already"),
        Remedy::new(
            "autocast",
            "precision",
            format!("Run operations under autocast in {half}"),
            faster(),
            move |raw| {
                raw.precision = Some(word.to_owned());
            },
        )
        .changing(format!("activations and matrix products have the precision of {half}")),
    );
    let against = match job.precision {
        Precision::Bf16 => Some("weights have 16 bits already"),
        _ if !has_bf16 => Some("the card computes no bfloat16"),
        _ => None,
    };
    offered.offer(
        against,
        Remedy::new(
            "bf16-weights",
            "precision",
            "Keep weights, gradients and optimizer state in bfloat16",
            faster(),
            |raw| {
                (raw.precision, raw.grad_scaler) = (Some("bf16".to_owned()), None);
            },
        )
        .changing("weights and their updates have the precision of bfloat16"),
    );
}

/// Remedies of the optimizer, of which one can be chosen.
fn optimizers(job: &Job, offered: &mut Offered) {
    let optimizer = &job.optimizer;
    let is_sgd = matches!(optimizer.kind, OptimizerKind::Sgd { .. });
    let on_device = optimizer.storage == OptimizerStorage::Device;
    let against_fused = match optimizer.implementation {
        OptimizerImplementation::Fused => Some("the optimizer is fused already"),
        _ if !on_device => Some("the state is not on the device in its full format"),
        _ => None,
    };
    let kernel = (FREE, "one kernel for the whole step".to_owned());
    offered.offer(
        against_fused,
        Remedy::new("fused", "optimizer", "Run the optimizer's step without temporary copies", kernel, |raw| {
            raw.optimizer.get_or_insert_default().implementation = Some("fused".to_owned());
        }),
    );
    let against_8bit = match optimizer.storage {
        _ if is_sgd => Some("only adam and adamw have 8-bit state"),
        OptimizerStorage::Device => None,
        OptimizerStorage::EightBit => Some("the state has 8 bits already"),
        OptimizerStorage::Host { .. } => Some("the state is in host memory"),
    };
    let kernels = (FixCostClass::Small, "one kernel for each parameter".to_owned());
    offered.offer(
        against_8bit,
        Remedy::new("adam-8bit", "optimizer", "Keep the optimizer's state in 8 bits", kernels, |raw| {
            let optimizer = raw.optimizer.get_or_insert_default();
            (optimizer.state, optimizer.implementation) = (Some("8bit".to_owned()), None);
        })
        .changing("the running averages are rounded to 8 bits"),
    );
    let number_bytes = if job.precision == Precision::Bf16 { 2 } else { 4 };
    let moved = bytes(job.trained_parameters().saturating_mul(2 * number_bytes));
    let over = (FixCostClass::Large, format!("{moved} over PCIe in each step, and its computation on the host"));
    let frees_gradients = job.accumulation == 1;
    offered.offer(
        (!on_device).then_some("the state is not on the device in its full format"),
        Remedy::new(
            "offload-optimizer",
            "optimizer",
            "Keep the optimizer's state and its step on the host",
            over,
            move |raw| {
                let optimizer = raw.optimizer.get_or_insert_default();
                (optimizer.offload, optimizer.implementation) = (Some(true), None);
                // Gradients of a later pass add to those of an earlier one.
                optimizer.offload_gradients = frees_gradients.then_some(true);
            },
        ),
    );
    offered.offer(
        is_sgd.then_some("the optimizer is SGD already"),
        Remedy::new("sgd", "optimizer", "Train with SGD, which keeps no state", (FREE, String::new()), |raw| {
            let rate = raw.optimizer.as_ref().and_then(|optimizer| optimizer.learning_rate);
            let optimizer = raw.optimizer.insert(Default::default());
            (optimizer.kind, optimizer.learning_rate) = (Some("sgd".to_owned()), rate);
        })
        .changing("it is another optimizer, which needs another learning rate"),
    );
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
