//! Resolves U-Nets: a preset, and the keys that override it.

use super::super::attention::SDPA_ATTENTIONS;
use super::super::raw::{MODEL, RawModel, Sizes};
use super::super::unet::Unet;
use super::Resolver;
use super::table::Table;

/// Most levels: with an image of 2048 pixels, the last level has a single latent.
const MOST_LEVELS: usize = 9;

impl Resolver {
    pub(super) fn unet(&mut self, raw: &mut Table<'_, RawModel>, base: &Unet) -> Unet {
        let unet = Unet {
            channels: self.channels(raw, &base.channels),
            layers: self.layer_count(raw, base.layers),
            image_size: self.whole(raw, &MODEL.image_size, base.image_size),
            heads: self.whole(raw, &MODEL.heads, base.heads),
            cross_attention_dim: self.whole(raw, &MODEL.cross_attention_dim, base.cross_attention_dim),
            text_tokens: self.whole(raw, &MODEL.text_tokens, base.text_tokens),
            attention: self.word_of(raw, &MODEL.attention, SDPA_ATTENTIONS, base.attention),
        };
        if !unet.image_size.is_multiple_of(Unet::PIXELS) {
            let message = format!("{} pixels are not a whole number of latents", unet.image_size);
            self.problem("model.image_size", message, format!("write a multiple of {}", Unet::PIXELS));
        }
        self.check_channels(&unet);
        unet
    }

    /// Returns the channels of each level.
    fn channels(&mut self, raw: &mut Table<'_, RawModel>, base: &[u64]) -> Vec<u64> {
        let channels = match raw.given(&MODEL.channels) {
            Some(Sizes::Each(sizes)) if (1..=MOST_LEVELS).contains(&sizes.len()) => {
                sizes.iter().map(|size| self.whole_within(&MODEL.channels, Some(*size), Unet::GROUPS)).collect()
            }
            Some(_) => {
                let message = format!("expected a list of 1 to {MOST_LEVELS} levels");
                self.problem("model.channels", message, "for example, write [320, 640, 1280, 1280]");
                base.to_vec()
            }
            None => base.to_vec(),
        };
        raw.settle(&MODEL.channels, Sizes::Each(channels.clone()));
        channels
    }

    fn check_channels(&mut self, unet: &Unet) {
        let no_multiple_of = |size| unet.channels.iter().find(|channels| !channels.is_multiple_of(size));
        if let Some(channels) = no_multiple_of(Unet::GROUPS) {
            let message = format!("{channels} channels cannot be divided into {} groups", Unet::GROUPS);
            self.problem("model.channels", message, format!("write multiples of {}", Unet::GROUPS));
        } else if let Some(channels) = no_multiple_of(unet.heads) {
            let message = format!("{channels} channels are not divisible by {} heads", unet.heads);
            self.problem("model.heads", message, "change `heads` or `channels`");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::job::{Job, Model, Problem, RawJob};

    fn resolve(text: &str) -> Result<Job, Vec<Problem>> {
        RawJob::from_toml(text).unwrap().resolve()
    }

    #[track_caller]
    fn check_problem(model: &str, problem: &str) {
        let problems = resolve(&format!("model = {{ family = 'unet', {model} }}")).unwrap_err();
        assert_eq!(problems.iter().map(Problem::to_string).collect::<Vec<_>>(), [problem]);
    }

    #[test]
    fn keys_override_the_preset_and_are_written_again() {
        let job = resolve("model = { preset = 'sd-1.5', channels = [32, 64], heads = 4, image_size = 72 }").unwrap();
        let Model::Unet(unet) = &job.model else { panic!("a U-Net") };
        assert_eq!((unet.channels.as_slice(), unet.layers, unet.latent_size()), ([32, 64].as_slice(), 2, 9));
        assert_eq!((unet.has_attention(0), unet.has_attention(1)), (true, false));
        assert_eq!(RawJob::from_json(&job.to_json()).unwrap().resolve().unwrap(), job);
    }

    #[track_caller]
    fn check_problem_of_job(job: &str, problem: &str) {
        let problems = resolve(&format!("model = {{ preset = 'sd-1.5', attention = 'cudnn' }}\n{job}")).unwrap_err();
        assert_eq!(problems.iter().map(Problem::to_string).collect::<Vec<_>>(), [problem]);
    }

    #[test]
    fn kernels_must_take_the_heads_of_every_level() {
        check_problem_of_job(
            "precision = 'bf16'\ncard = 'a100-80gb'",
            "model.attention: cuDNN attention supports head dimensions up to 128, not 160, on a100-80gb \
             (compute capability 8.0); remove it to let PyTorch choose one that can run",
        );
        let on_hopper = "model = { preset = 'sd-1.5', attention = 'cudnn' }\nprecision = 'bf16'\ncard = 'h100-80gb'";
        assert!(resolve(on_hopper).is_ok());
    }

    #[test]
    fn replicas_are_refused() {
        check_problem_of_job(
            "precision = 'bf16'\ncard = '2x h100-80gb'\nparallel = {}",
            "parallel: replicas of U-Nets are not supported; train another model, or remove `parallel`",
        );
    }

    #[test]
    fn what_does_not_fit_is_a_problem() {
        check_problem(
            "channels = 320",
            "model.channels: expected a list of 1 to 9 levels; for example, write [320, 640, 1280, 1280]",
        );
        check_problem(
            "channels = [48]",
            "model.channels: 48 channels cannot be divided into 32 groups; write multiples of 32",
        );
        check_problem(
            "channels = [32, 64], heads = 5",
            "model.heads: 32 channels are not divisible by 5 heads; change `heads` or `channels`",
        );
        check_problem(
            "image_size = 500",
            "model.image_size: 500 pixels are not a whole number of latents; write a multiple of 8",
        );
        check_problem(
            "attention = 'eager'",
            "model.attention: unknown value `eager`; the possible values are sdpa, flash, efficient, cudnn, math",
        );
    }
}
