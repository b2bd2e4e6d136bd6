//! Lists the remedies that are tried on a script, from the cheapest to the strongest.

use shared::api::{FixCost, FixCostClass, RemedyFacts};
use shared::base::format::bytes;

/// A remedy, as the hook knows it by its name (`server/python/run/snapscope_run/remedies/`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Remedy {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    class: FixCostClass,
    /// Why it is as fast or slow as that, unless its run tells more.
    reason: &'static str,
    /// What it changes about the mathematics.
    pub(super) changes: Option<&'static str>,
    /// Of remedies with the same word, one can be applied.
    kind: &'static str,
    /// Setting of the allocator, which needs no change of the script.
    pub(super) allocator: Option<&'static str>,
    helps: Scripts,
}

/// Scripts that a remedy can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scripts {
    All,
    Training,
    Ranks,
    Inference,
}

const fn remedy(name: &'static str, kind: &'static str, title: &'static str) -> Remedy {
    let class = FixCostClass::None;
    Remedy { name, title, class, reason: "", changes: None, kind, allocator: None, helps: Scripts::Training }
}

impl Remedy {
    const fn costs(self, class: FixCostClass, reason: &'static str) -> Self {
        Self { class, reason, ..self }
    }

    const fn changing(self, changes: &'static str) -> Self {
        Self { changes: Some(changes), ..self }
    }

    const fn helping(self, helps: Scripts) -> Self {
        Self { helps, ..self }
    }
}

use FixCostClass::{Large, Moderate, Small};

/// All remedies, in the order in which they are tried.
pub(super) const ALL: &[Remedy] = &[
    Remedy {
        allocator: Some("expandable_segments:True"),
        ..remedy("expandable-segments", "allocator", "Let segments grow, so that gaps can be used")
            .helping(Scripts::All)
    },
    remedy("no-grad", "graph", "Build no graph for a backward pass that never comes").helping(Scripts::Inference),
    remedy("gradients-early", "gradients", "Free gradients right after the step"),
    remedy("efficient-attention", "attention", "Compute attention without its table of weights").helping(Scripts::All),
    remedy("fused", "step", "Step all parameters in one kernel, without copies"),
    remedy("foreach-off", "step", "Step one parameter at a time")
        .costs(Small, "a few small kernels for each parameter"),
    remedy("liger", "loss", "Use Liger's kernels for the loss and the layers"),
    remedy("trim-padding", "length", "Cut batches to their longest sample")
        .costs(FixCostClass::None, "but a batch with a sample of full length needs what it needs today")
        .helping(Scripts::All),
    remedy("loss-chunks", "loss", "Compute the loss in chunks").costs(Small, "a loop over chunks of the logits"),
    remedy("step-in-backward", "gradients", "Step each parameter in backward, and free its gradient")
        .costs(Small, "a few small kernels for each parameter"),
    remedy("shard-optimizer", "optimizer", "Leave each rank the optimizer's state of a part of the parameters")
        .costs(Small, "the ranks broadcast their parameters after each step")
        .helping(Scripts::Ranks),
    remedy("microbatch-2", "batch", "Take half the batch at a time, and add up the gradients")
        .costs(Small, "2 passes with smaller kernels for each step"),
    remedy("microbatch-4", "batch", "Take a quarter of the batch at a time, and add up the gradients")
        .costs(Small, "4 passes with smaller kernels for each step"),
    remedy("microbatch-8", "batch", "Take an eighth of the batch at a time, and add up the gradients")
        .costs(Small, "8 passes with smaller kernels for each step"),
    remedy("checkpoint-half", "checkpoint", "Compute each second block again in backward")
        .costs(Moderate, "a second forward pass of half of the blocks"),
    remedy("checkpoint", "checkpoint", "Compute the blocks again in backward")
        .costs(Moderate, "a second forward pass of the blocks"),
    remedy("offload-activations", "activations", "Keep activations in host memory until backward")
        .costs(Large, "activations over PCIe in each step"),
    remedy(
        "offload-optimizer",
        "optimizer",
        "Keep the optimizer's state in host memory, and step one parameter at a time",
    )
    .costs(Large, "the state over PCIe in each step"),
    remedy("compile-budget", "checkpoint", "Let the compiler keep half of the activations")
        .costs(Moderate, "the compiled code computes the others again in backward"),
    remedy("autocast", "precision", "Compute the forward pass in 16 bits")
        .changing("activations have 16 bits")
        .helping(Scripts::All),
    remedy("bf16-weights", "precision", "Keep weights, gradients and optimizer state in bfloat16")
        .changing("weights are rounded to 8 bits of precision at each step")
        .helping(Scripts::All),
    remedy("length-half", "length", "Take sequences of half the length")
        .changing("each token sees half as much text before it")
        .helping(Scripts::All),
    remedy("adam-8bit", "optimizer", "Keep the optimizer's state in 8 bits").changing("the state is quantized"),
    remedy("paged-adam-8bit", "optimizer", "Keep the optimizer's state in 8 bits, in memory that pages to the host")
        .changing("the state is quantized")
        .costs(Small, "pages move only where memory is short"),
    remedy("adafactor", "optimizer", "Keep sums over rows and columns as the optimizer's state")
        .changing("another optimizer, with a learning rate of its own"),
    remedy("sgd", "optimizer", "Keep no optimizer state")
        .changing("another optimizer, with a learning rate of its own"),
];

impl Remedy {
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|remedy| remedy.name == name)
    }

    /// Returns true if it can help a script that trains, perhaps with other ranks, or trains nothing.
    pub(super) const fn is_for(&self, is_training: bool, has_ranks: bool) -> bool {
        match self.helps {
            Scripts::All => true,
            Scripts::Training => is_training,
            Scripts::Ranks => is_training && has_ranks,
            Scripts::Inference => !is_training,
        }
    }

    /// Returns true if not both can be applied.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        self.kind == other.kind
    }

    /// Returns the remedy that has to help for this one to be worth a try.
    pub(super) fn weaker(&self) -> Option<&'static str> {
        match self.name {
            "microbatch-4" => Some("microbatch-2"),
            "microbatch-8" => Some("microbatch-4"),
            "paged-adam-8bit" => Some("adam-8bit"),
            _ => None,
        }
    }

    /// Returns how much slower a step becomes, by what the remedy's own run has counted.
    pub(super) fn cost(&self, facts: &RemedyFacts) -> FixCost {
        if facts.more_flops > 0 {
            // Backward takes twice the operations of forward.
            let share = facts.more_flops as f64 / (3 * facts.flops).max(1) as f64;
            let class = if share < 0.05 { Small } else { Moderate };
            let (percent, tera) = (share * 100.0, facts.more_flops as f64 / 1e12);
            let reason = format!("{percent:.0} % more FLOPs, {tera:.2} T for a second forward pass");
            return FixCost { class, reason };
        }
        if facts.moved_bytes > 0 {
            let reason = format!("{} to the host and back in each step", bytes(facts.moved_bytes));
            return FixCost { class: self.class, reason };
        }
        FixCost { class: self.class, reason: self.reason.to_owned() }
    }
}

/// Names the remedy that gives the script another batch.
pub(super) fn of_batch(size: u64) -> String {
    format!("batch-{size}")
}

/// Lists the remedies for a help text or a refusal.
pub(super) fn names() -> String {
    ALL.iter().map(|remedy| remedy.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_has_counted_is_the_reason() {
        let remedy = Remedy::named("checkpoint").expect("it is in the table");
        let facts = RemedyFacts { flops: 3_000_000_000_000, more_flops: 1_500_000_000_000, ..RemedyFacts::default() };
        let cost = remedy.cost(&facts);
        assert_eq!(cost.reason, "17 % more FLOPs, 1.50 T for a second forward pass");
        assert_eq!((cost.class, remedy.cost(&RemedyFacts::default()).class), (Moderate, Moderate));
    }

    #[test]
    fn each_kind_of_script_gets_what_can_help_it() {
        let offered = |name: &str| {
            let remedy = Remedy::named(name).expect("it is in the table");
            [(true, true), (true, false), (false, true)].map(|(trains, has_ranks)| remedy.is_for(trains, has_ranks))
        };
        assert_eq!(offered("shard-optimizer"), [true, false, false]);
        assert_eq!(offered("offload-optimizer"), [true, true, false]);
        assert_eq!(offered("no-grad"), [false, false, true]);
        assert_eq!(offered("autocast"), [true; 3]);
        // Those that change the mathematics come last.
        assert!(ALL.is_sorted_by_key(|remedy| remedy.changes.is_some()));
        assert!(ALL.iter().all(|remedy| remedy.weaker().is_none_or(|weaker| Remedy::named(weaker).is_some())));
    }
}
