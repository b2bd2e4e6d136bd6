//! Figures that follow from a config.

use frontend::views::head::model::{Emphasis, Figure};
use shared::base::format;
use shared::job::{Device, Job, Precision};

/// Returns the figures of a job, the most important first.
pub(crate) fn numbers(job: &Job) -> Vec<Figure> {
    [Some(parameters(job)), weights(job), Some(card(job)), Some(samples(job))].into_iter().flatten().collect()
}

/// Returns a warning if it is certain before the run that a job can't fit.
pub(crate) fn warning(job: &Job) -> Option<String> {
    let (weights_bytes, memory_bytes) = (weights_bytes(job)?, job.device.cards().first()?.memory_bytes);
    (weights_bytes > memory_bytes).then(|| {
        let (weights, memory) = (format::bytes(weights_bytes), format::bytes(memory_bytes));
        format!("The weights alone take {weights}, more than the GPU's {memory}: this job will run out of memory.")
    })
}

fn parameters(job: &Job) -> Figure {
    let (all, trained) = (job.parameters(), job.trained_parameters());
    Figure {
        label: "Parameters",
        value: format::count(all),
        note: if trained == all {
            job.model.family().to_owned()
        } else {
            format!("{} trained", format::count(trained))
        },
        explanation: "Parameters of the model and its adapters; shared parameters count once.",
        emphasis: Emphasis::Plain,
    }
}

/// Returns the bytes of the model's weights, or `None` with LoRA or several devices, where the sum differs.
fn weights_bytes(job: &Job) -> Option<u64> {
    let is_plain = job.lora.is_none() && job.parallel.is_none();
    is_plain.then(|| job.parameters().saturating_mul(if job.precision == Precision::Bf16 { 2 } else { 4 }))
}

fn weights(job: &Job) -> Option<Figure> {
    Some(Figure {
        label: "Weights",
        value: format::bytes(weights_bytes(job)?),
        note: if job.precision == Precision::Bf16 { "16 bits each" } else { "32 bits each" }.to_owned(),
        explanation: "Memory of the weights alone, without gradients, optimizer state and activations.",
        emphasis: Emphasis::Live,
    })
}

fn card(job: &Job) -> Figure {
    let (value, note) = match &job.device {
        Device::Virtual(cards) => {
            let memory = cards.0.first().map_or_else(String::new, |card| format::bytes(card.memory_bytes));
            let each = if cards.0.len() > 1 { " each" } else { "" };
            (format!("{memory}{each}"), cards.to_string())
        }
        Device::Cuda(_) => (job.device.to_string(), "a GPU of the server".to_owned()),
    };
    Figure {
        label: "GPU memory",
        value,
        note,
        explanation: "GPU memory that PyTorch sees. A virtual GPU tracks memory and computes nothing.",
        emphasis: Emphasis::Reserved,
    }
}

fn samples(job: &Job) -> Figure {
    let samples = job.batch.saturating_mul(job.accumulation);
    let has_tokens = job.model.max_positions().is_some();
    let tokens = format!("{} tokens", format::count(samples.saturating_mul(job.sequence)));
    Figure {
        label: "Per step",
        value: format::counted(samples, "sample"),
        note: if has_tokens { tokens } else { format::counted(job.steps, "step") },
        explanation: "Samples per optimizer step: the batch size times the gradient accumulation.",
        emphasis: Emphasis::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::job::RawJob;

    fn job(config: &str) -> Job {
        RawJob::from_toml(config).unwrap().resolve().unwrap()
    }

    #[track_caller]
    fn check(config: &str, label: &str, value: &str, note: &str) {
        let numbers = numbers(&job(config));
        let figure = numbers.iter().find(|figure| figure.label == label).unwrap();
        assert_eq!((figure.value.as_str(), figure.note.as_str()), (value, note));
    }

    #[test]
    fn a_config_means_numbers() {
        let gpt2 = "model = \"gpt2\"\nbatch = 4\naccumulation = 2\nsequence = 512\ncard = \"2x t4-16gb\"";
        check(gpt2, "Parameters", "124,439,808", "transformer");
        check(gpt2, "Weights", "475 MiB", "32 bits each");
        check(gpt2, "GPU memory", "14.6 GiB each", "2x t4-16gb");
        check(gpt2, "Per step", "8 samples", "4,096 tokens");
        check("model = \"mlp\"\ndevice = \"cuda:1\"", "GPU memory", "cuda:1", "a GPU of the server");
        check("model = \"mlp\"\nprecision = \"bf16\"", "Weights", "47.8 MiB", "16 bits each");
    }

    #[test]
    fn weights_that_cannot_fit_are_told() {
        assert!(warning(&job("model = \"llama-3-70b\"\nprecision = \"bf16\"")).unwrap().contains("131 GiB"));
        assert_eq!(warning(&job("model = \"gpt2\"")), None);
    }
}
