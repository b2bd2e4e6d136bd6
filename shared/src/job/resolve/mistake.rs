//! Resolves the mistakes of a job: each is known, listed once, and has a visible effect.

use super::super::mistake::{MISTAKES, Mistake};
use super::super::model::{Model, ResNetFamily};
use super::super::names::name_of;
use super::super::raw::{JOB, RawCheckpointing, RawJob};
use super::super::recurrent::CarryHidden;
use super::super::resolved::Job;
use super::super::training::{Amp, Device, OptimizerImplementation, Precision};
use super::Resolver;
use super::table::Table;

/// Reason why a mistake does not fit, and what to write instead.
type Misfit = (&'static str, &'static str);

impl Resolver {
    /// Returns the mistakes that a config lists.
    pub(super) fn mistakes(&mut self, raw: &mut Table<'_, RawJob>) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        for name in raw.given(&JOB.mistakes).into_iter().flatten() {
            let mistake = self.choice("mistakes", Some(name), Mistake::KeepLosses, MISTAKES);
            if mistakes.contains(&mistake) {
                self.problem("mistakes", format!("`{name}` is listed twice"), "remove one");
            } else {
                self.check_mistake(mistake, name, raw.given);
                mistakes.push(mistake);
            }
        }
        raw.settle(&JOB.mistakes, mistakes.iter().map(|mistake| name_of(MISTAKES, mistake).to_owned()).collect());
        mistakes
    }

    /// Reports a mistake that would have no effect and so is a misunderstanding, or that can't be recorded here.
    fn check_mistake(&mut self, mistake: Mistake, name: &str, raw: &RawJob) {
        let has = |other: &str| raw.mistakes.iter().flatten().any(|name| name.eq_ignore_ascii_case(other));
        let problem = match mistake {
            Mistake::KeepEvaluationLosses if raw.evaluation.is_none() => {
                Some(("there is no evaluation", "for example, write `evaluation = { every = 1 }`"))
            }
            Mistake::AllocateInLoop if raw.parallel.is_some() => {
                Some(("not supported on several devices", "remove `parallel`"))
            }
            Mistake::AllocateInLoop if raw.loss.is_some() => {
                Some(("a chunked loss produces no logits", "remove `loss`"))
            }
            Mistake::BackwardOnce if raw.accumulation.unwrap_or(1) == 1 => {
                Some(("each step has only one micro batch", "for example, write `accumulation = 4`"))
            }
            Mistake::RetainGraph if raw.checkpointing.as_ref().is_some_and(RawCheckpointing::is_on) => {
                Some(("not supported with checkpointing", "write `checkpointing = false`"))
            }
            Mistake::KeepGradients if raw.set_to_none == Some(false) || has("never_zero_grad") => {
                Some(("gradients that stay allocated are the same tensors", "remove what keeps them"))
            }
            _ => None,
        };
        self.misfit(name, problem);
    }

    /// Checks what mistakes need of the model, the number formats and the devices.
    pub(super) fn check_mistakes(&mut self, job: &Job) {
        for mistake in &job.mistakes {
            let problem = match mistake {
                Mistake::ChainHiddenState => chain_misfit(job),
                Mistake::CacheActivations => of_layers(job, is_transformer(&job.model)),
                Mistake::HookActivations => of_layers(job, has_layers(&job.model)),
                Mistake::LossOutsideAutocast if !matches!(job.precision, Precision::Autocast(_)) => {
                    Some(("there is no autocast", "for example, write `precision = \"autocast-bf16\"`"))
                }
                Mistake::LossOutsideAutocast if job.saving.offload_activations => {
                    Some(("not supported with offloaded activations", "remove `offload_activations`"))
                }
                Mistake::LossOutsideAutocast => of_losses(job),
                Mistake::TargetOnOtherDevice => target_misfit(job).or_else(|| of_losses(job)),
                _ => None,
            };
            self.misfit(name_of(MISTAKES, mistake), problem);
        }
    }

    fn misfit(&mut self, name: &str, misfit: Option<Misfit>) {
        if let Some((because, hint)) = misfit {
            self.problem("mistakes", format!("`{name}`: {because}"), hint);
        }
    }
}

/// Returns true if the layers are those of a transformer, which have attention.
const fn is_transformer(model: &Model) -> bool {
    matches!(model, Model::Transformer(_) | Model::Bert(_) | Model::Vit(_))
}

/// Returns true if hooks of the layers are recorded.
const fn has_layers(model: &Model) -> bool {
    is_transformer(model) || matches!(model, Model::Mlp(_) | Model::ResNet(_))
}

/// Checks what hooks of layers need: such layers, on one device.
fn of_layers(job: &Job, has_layers: bool) -> Option<Misfit> {
    if !has_layers {
        return Some(("this model has no such layers", "for example, train `gpt2`"));
    }
    job.parallel.map(|_| ("not supported on several devices", "remove `parallel`"))
}

/// Checks what a loss computed outside of the model needs: a model that returns logits, on one device.
fn of_losses(job: &Job) -> Option<Misfit> {
    let is_behind = match &job.model {
        Model::Mlp(_) | Model::Rnn(_) => true,
        Model::ResNet(resnet) => resnet.family == ResNetFamily::Torchvision,
        _ => false,
    };
    if !is_behind {
        return Some(("this model computes its loss itself", "for example, train `resnet50`"));
    }
    job.parallel.map(|_| ("not supported on several devices", "remove `parallel`"))
}

/// Checks that backward can run through all batches: it needs their graphs, and weights that no optimizer has changed.
///
/// PyTorch compares the versions of tensors, which a fused optimizer does not increase; under autocast it compares
/// those of the casts.
fn chain_misfit(job: &Job) -> Option<Misfit> {
    if !matches!(&job.model, Model::Rnn(rnn) if rnn.carry_hidden == CarryHidden::Detach) {
        return Some(("no hidden state is carried", "train `lstm-medium`, and remove `carry_hidden`"));
    }
    if !job.mistakes.contains(&Mistake::RetainGraph) {
        let because = "PyTorch fails in the second backward pass, because the first one freed the graph";
        return Some((because, "add `retain_graph`"));
    }
    let is_cast = matches!(job.precision, Precision::Autocast(_));
    let is_fused = job.optimizer.implementation == OptimizerImplementation::Fused;
    let because = "PyTorch fails in the second backward pass, because the optimizer changed the weights";
    (!is_cast && !is_fused).then_some((because, "for example, write `precision = \"autocast-fp16\"`"))
}

/// Checks that there is a second device, and no gradient scaler, whose scale would be on the first.
fn target_misfit(job: &Job) -> Option<Misfit> {
    let has_two = match &job.device {
        Device::Virtual(cards) => cards.0.len() > 1,
        Device::Cuda(index) => *index == 0,
    };
    if !has_two {
        return Some(("there is no second device", "for example, write `card = \"2x a100-80gb\"`"));
    }
    matches!(job.precision, Precision::Autocast(Amp { grad_scaler: true, .. }))
        .then_some(("not supported with a gradient scaler", "write `grad_scaler = false`"))
}

#[cfg(test)]
mod tests {
    use crate::job::{Problem, RawJob};

    #[track_caller]
    fn check_problem(text: &str, problem: &str) {
        let problems = RawJob::from_toml(text).unwrap().resolve().unwrap_err();
        assert_eq!(problems.iter().map(Problem::to_string).collect::<Vec<_>>(), [format!("mistakes: {problem}")]);
    }

    #[track_caller]
    fn check(text: &str) {
        let job = RawJob::from_toml(text).unwrap().resolve().unwrap();
        assert_eq!(RawJob::from_json(&job.to_json()).unwrap().resolve().unwrap(), job);
    }

    #[test]
    fn a_chain_needs_graphs_and_weights_that_stay() {
        let chain = "mistakes = ['chain_hidden_state', 'retain_graph']";
        check(&format!("model = 'lstm-medium'\nprecision = 'autocast-fp16'\n{chain}"));
        check(&format!("model = 'lstm-medium'\noptimizer = {{ implementation = 'fused' }}\n{chain}"));
        check_problem(
            &format!("model = 'lstm-medium'\n{chain}"),
            "`chain_hidden_state`: PyTorch fails in the second backward pass, because the optimizer changed the \
             weights; for example, write `precision = \"autocast-fp16\"`",
        );
        check_problem(
            "model = 'lstm-medium'\nprecision = 'autocast-fp16'\nmistakes = ['chain_hidden_state']",
            "`chain_hidden_state`: PyTorch fails in the second backward pass, because the first one freed the graph; \
             add `retain_graph`",
        );
        check_problem(
            &format!("model = 'gpt2'\n{chain}"),
            "`chain_hidden_state`: no hidden state is carried; train `lstm-medium`, and remove `carry_hidden`",
        );
    }

    #[test]
    fn hooks_need_layers() {
        check("model = 'resnet18'\nmistakes = ['hook_activations']");
        check("model = 'bert-base'\nmistakes = ['cache_activations', 'hook_activations']");
        check_problem(
            "model = 'mlp'\nmistakes = ['cache_activations']",
            "`cache_activations`: this model has no such layers; for example, train `gpt2`",
        );
        check_problem(
            "model = 'mlp'\ncard = '2x t4-16gb'\nparallel = {}\nmistakes = ['hook_activations']",
            "`hook_activations`: not supported on several devices; remove `parallel`",
        );
    }

    #[test]
    fn a_loss_behind_the_model_needs_one_that_has_none() {
        check("model = 'mlp'\nprecision = 'autocast-fp16'\nmistakes = ['loss_outside_autocast']");
        check("model = 'mlp'\ncard = '2x t4-16gb'\nmistakes = ['target_on_other_device']");
        check_problem(
            "model = 'gpt2'\nprecision = 'autocast-fp16'\nmistakes = ['loss_outside_autocast']",
            "`loss_outside_autocast`: this model computes its loss itself; for example, train `resnet50`",
        );
        check_problem(
            "model = 'mlp'\nmistakes = ['loss_outside_autocast']",
            "`loss_outside_autocast`: there is no autocast; for example, write `precision = \"autocast-bf16\"`",
        );
        check_problem(
            "model = 'mlp'\nmistakes = ['target_on_other_device']",
            "`target_on_other_device`: there is no second device; for example, write `card = \"2x a100-80gb\"`",
        );
        check_problem(
            "model = 'mlp'\ncard = '2x t4-16gb'\nprecision = 'autocast-fp16'\nmistakes = ['target_on_other_device']",
            "`target_on_other_device`: not supported with a gradient scaler; write `grad_scaler = false`",
        );
    }
}
