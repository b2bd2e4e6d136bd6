//! Checks the total work and memory of a job, whose single numbers are already within their limits.

use super::super::cnn::Features;
use super::super::domain::{MOST_BATCH_BYTES, MOST_EVENTS, MOST_PARAMETERS, MOST_TENSOR_BYTES};
use super::super::model::{Bert, Mlp, Model, ResNet, Rnn};
use super::super::problem::Problem;
use super::super::training::Precision;
use super::super::transformer::{Attention, Transformer};
use super::kernels::AMPERE;
use super::{Job, Resolver};
use foundation::base::format;

impl Resolver {
    /// Reports everything that is too large about a job.
    pub(super) fn check_work(&mut self, job: &Job) {
        self.problems.extend([parameters(job), tensor(job), host_batch(job), events(job)].into_iter().flatten());
    }
}

fn parameters(job: &Job) -> Option<Problem> {
    let parameters = job.parameters();
    let message = || {
        format!("the model has {} parameters, more than {}", format::count(parameters), format::count(MOST_PARAMETERS))
    };
    (parameters > MOST_PARAMETERS).then(|| Problem::new("model", message(), "write fewer layers or a smaller `hidden`"))
}

/// Returns the samples of the larger of training and evaluation batches.
fn samples(job: &Job) -> u128 {
    u128::from(job.evaluation.map_or(job.batch, |evaluation| evaluation.batch.max(job.batch)))
}

fn tensor(job: &Job) -> Option<Problem> {
    const BYTES: u128 = 4;
    let elements = samples(job) * largest(&job.model, u128::from(job.sequence));
    let size = format::bytes(u64::try_from(elements * BYTES).unwrap_or(u64::MAX));
    let message = format!("a single tensor would take {size}");
    (elements * BYTES > MOST_TENSOR_BYTES).then(|| Problem::new("batch", message, "write a smaller batch or sequence"))
}

/// Returns the elements of a sample's largest tensor.
fn largest(model: &Model, sequence: u128) -> u128 {
    match model {
        Model::Mlp(Mlp { input_features, hidden_features, classes, .. }) => {
            u128::from(hidden_features.iter().copied().fold(*input_features.max(classes), u64::max))
        }
        // The output of the first convolution has 64 channels at half the height and width.
        Model::ResNet(ResNet { image_size, .. }) => 16 * u128::from(*image_size) * u128::from(*image_size),
        Model::Transformer(transformer) => {
            let Transformer { vocabulary, hidden, intermediate, heads, attention, .. } = *transformer;
            of_attention(attention, heads, sequence, vocabulary.max(intermediate).max(hidden))
        }
        Model::Bert(bert) => {
            let Bert { vocabulary, hidden, intermediate, heads, attention, .. } = *bert;
            of_attention(attention, heads, sequence, vocabulary.max(intermediate).max(hidden))
        }
        Model::Rnn(rnn) => sequence * of_rnn(rnn),
        Model::Cnn(cnn) => cnn.features().into_iter().map(Features::count).max().unwrap_or(0),
    }
}

/// Returns the elements per token: its logits, or the gates and states that cuDNN keeps of all layers in one tensor.
fn of_rnn(rnn: &Rnn) -> u128 {
    let Rnn { vocabulary, embedding, layers, hidden, .. } = *rnn;
    let kept = u128::from(layers) * u128::from(hidden) * u128::from(rnn.cell.gates() + 2);
    kept.max(u128::from(vocabulary.max(embedding)))
}

/// Returns the elements for `tokens` tokens: their widest features, or all probabilities if attention stores them.
fn of_attention(attention: Attention, heads: u64, tokens: u128, features: u64) -> u128 {
    let has_scores = matches!(attention, Attention::Eager | Attention::Math);
    let scores = if has_scores { u128::from(heads) * tokens } else { 0 };
    tokens * scores.max(u128::from(features))
}

/// Checks the size of a batch in host memory, where images and vectors are created; tokens take few bytes.
fn host_batch(job: &Job) -> Option<Problem> {
    let numbers = match &job.model {
        Model::Mlp(mlp) => u128::from(mlp.input_features),
        Model::ResNet(resnet) => 3 * u128::from(resnet.image_size) * u128::from(resnet.image_size),
        Model::Cnn(cnn) => cnn.images().count(),
        Model::Transformer(_) | Model::Bert(_) | Model::Rnn(_) => 2 * u128::from(job.sequence),
    };
    let bytes = samples(job) * numbers * 4;
    let size = format::bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
    (bytes > MOST_BATCH_BYTES)
        .then(|| Problem::new("batch", format!("a batch would take {size} of host memory"), "write a smaller batch"))
}

/// Estimates the events of a forward and backward pass.
///
/// cuDNN computes all layers in few operations; it has no bfloat16 on older cards, where PyTorch goes token by token.
fn events_of_rnn(rnn: &Rnn, job: &Job) -> u128 {
    let is_old = job.device.cards().iter().any(|card| card.capability < AMPERE);
    let layers = u128::from(rnn.layers);
    let by_token = if job.precision == Precision::Bf16 && is_old { 50 * layers * u128::from(job.sequence) } else { 0 };
    100 + 40 * layers + by_token
}

/// Checks the estimated number of events of a recording, right in order of magnitude.
///
/// Counts of real recordings per step: GPT-2 with 12 layers 3,800, ResNet-50 1,700, an MLP of three layers 600.
fn events(job: &Job) -> Option<Problem> {
    let pass = match &job.model {
        Model::Mlp(mlp) => 200 * (mlp.hidden_features.len() as u128 + 1),
        Model::ResNet(resnet) => 110 * u128::from(resnet.depth.blocks().iter().sum::<u64>()),
        Model::Rnn(rnn) => events_of_rnn(rnn, job),
        Model::Cnn(cnn) => 100 + 40 * cnn.layers.len() as u128,
        Model::Transformer(Transformer { layers, .. }) | Model::Bert(Bert { layers, .. }) => {
            300 * (u128::from(*layers) + 1)
        }
    };
    let evaluations = job
        .evaluation
        .map_or(0, |evaluation| u128::from(job.steps / evaluation.every) * u128::from(evaluation.batches));
    let passes = u128::from(job.steps) * u128::from(job.accumulation) + evaluations;
    let message = || format!("about {} million events would be recorded", pass * passes / 1_000_000);
    let hint = "write fewer steps: memory use repeats from step to step";
    (pass * passes > MOST_EVENTS).then(|| Problem::new("steps", message(), hint))
}
