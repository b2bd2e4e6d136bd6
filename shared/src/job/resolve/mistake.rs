//! The mistakes of a job: known, each once, and such that they show.

use super::super::mistake::{MISTAKES, Mistake};
use super::super::raw::{RawCheckpointing, RawJob};
use super::Resolver;

impl Resolver {
    /// The mistakes that a config names.
    pub(super) fn mistakes(&mut self, raw: &RawJob) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        for name in raw.mistakes.iter().flatten() {
            let mistake = self.choice("mistakes", Some(name), Mistake::KeepLosses, MISTAKES);
            if mistakes.contains(&mistake) {
                self.problem("mistakes", format!("`{name}` is the same as another"), "leave one out");
            } else {
                self.check_mistake(mistake, name, raw);
                mistakes.push(mistake);
            }
        }
        mistakes
    }

    /// A mistake that cannot show is a misunderstanding.
    fn check_mistake(&mut self, mistake: Mistake, name: &str, raw: &RawJob) {
        let has = |other: &str| raw.mistakes.iter().flatten().any(|name| name.eq_ignore_ascii_case(other));
        let problem = match mistake {
            Mistake::KeepEvaluationLosses if raw.evaluation.is_none() => {
                Some(("there is no evaluation", "write for example `evaluation = { every = 1 }`"))
            }
            Mistake::AllocateInLoop if raw.parallel.is_some() => {
                Some(("on several devices it is not recorded", "leave out `parallel`"))
            }
            Mistake::AllocateInLoop if raw.loss.is_some() => {
                Some(("a loss in chunks leaves no logits", "leave out `loss`"))
            }
            Mistake::BackwardOnce if raw.accumulation.unwrap_or(1) == 1 => {
                Some(("a step has one micro batch", "write for example `accumulation = 4`"))
            }
            Mistake::RetainGraph if raw.checkpointing.as_ref().is_some_and(RawCheckpointing::is_on) => {
                Some(("with checkpointing it is not recorded", "write `checkpointing = false`"))
            }
            Mistake::KeepGradients if raw.set_to_none == Some(false) || has("never_zero_grad") => {
                Some(("gradients that stay are the same tensors", "leave out what keeps them"))
            }
            _ => None,
        };
        if let Some((because, hint)) = problem {
            self.problem("mistakes", format!("`{name}`: {because}"), hint);
        }
    }
}
