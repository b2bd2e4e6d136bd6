//! Resolves lists of layers: parses each layer and checks that it fits its input.

use super::super::cnn::{Cnn, CnnLayer, Fault, Features, Layers};
use super::super::model::Model;
use super::super::problem::excerpt;
use super::super::raw::{MODEL, RawModel, Table};
use super::{Job, Resolver};

/// Least image size in pixels, smaller than that of other models: handwritten digits have 28.
const LEAST_IMAGE_SIZE: u64 = 1;

/// A layer with its number, counted from 1, and its text.
struct Numbered<'a> {
    number: usize,
    text: &'a str,
    layer: CnnLayer,
}

impl Resolver {
    pub(super) fn cnn(&mut self, raw: &mut Table<'_, RawModel>, base: &Cnn) -> Cnn {
        let before = self.problems.len();
        let cnn = Cnn {
            input_channels: self.number(raw, &MODEL.input, base.input_channels),
            image_size: self.small_image_size(raw, base.image_size),
            channels_last: raw.flag(&MODEL.channels_last, base.channels_last),
            layers: base.layers.clone(),
        };
        let texts = match raw.given(&MODEL.layers) {
            Some(Layers::Each(texts)) => texts.clone(),
            Some(Layers::Count(_)) => {
                let hint = "for example, write [\"conv 64 3\", \"relu\", \"flatten\", \"linear 10\"]";
                self.problem("model.layers", "this model needs a list of layers", hint);
                return cnn;
            }
            None => base.layers.iter().map(ToString::to_string).collect(),
        };
        let layers = self.layers(&texts);
        if self.problems.len() == before {
            self.check_places(&cnn, &layers);
        }
        raw.settle(&MODEL.layers, Layers::Each(layers.iter().map(|numbered| numbered.layer.to_string()).collect()));
        let fits = self.problems.len() == before;
        if fits { Cnn { layers: layers.iter().map(|numbered| numbered.layer).collect(), ..cnn } } else { cnn }
    }

    fn small_image_size(&mut self, raw: &mut Table<'_, RawModel>, base: u64) -> u64 {
        let key = &MODEL.image_size;
        let small = raw.given(key).filter(|size| (LEAST_IMAGE_SIZE..key.domain.least).contains(size));
        if let Some(size) = small {
            raw.settle(key, *size);
            return *size;
        }
        self.number(raw, key, base)
    }

    /// Parses the layers, and reports those that can't be parsed.
    fn layers<'a>(&mut self, texts: &'a [String]) -> Vec<Numbered<'a>> {
        self.number_within(&MODEL.layers, Some(texts.len() as u64), 1);
        let mut layers = Vec::new();
        for (number, text) in (1..).zip(texts) {
            match CnnLayer::parse(text) {
                Ok(layer) => layers.push(Numbered { number, text, layer }),
                Err(fault) => self.fault(number, text, fault),
            }
        }
        layers
    }

    /// Follows the shape of a sample through the layers, up to the first one that does not fit.
    fn check_places(&mut self, cnn: &Cnn, layers: &[Numbered<'_>]) {
        let mut features = cnn.images();
        for Numbered { number, text, layer } in layers {
            match layer.after(features) {
                Ok(after) => features = after,
                Err(fault) => return self.fault(*number, text, fault),
            }
        }
        if !matches!(features, Features::Vector(2..)) {
            let hint = "end the list with \"flatten\" and, for example, \"linear 1000\"";
            self.problem("model.layers", "the last layer does not output classes", hint);
        }
        let learns = |layer: &CnnLayer| matches!(layer, CnnLayer::Conv(_) | CnnLayer::Norm | CnnLayer::Linear { .. });
        if !layers.iter().any(|numbered| learns(&numbered.layer)) {
            self.problem("model.layers", "no layer has trainable weights", "add a `conv` or a `linear`");
        }
        self.check_in_place(layers);
    }

    /// Reports in-place layers that overwrite an output kept for backward; PyTorch reports this only in backward.
    fn check_in_place(&mut self, layers: &[Numbered<'_>]) {
        let mut kept: Option<&Numbered<'_>> = None;
        for numbered in layers {
            if numbered.layer == (CnnLayer::Relu { inplace: true })
                && let Some(keeper) = kept
            {
                let message = format!(
                    "it would overwrite the output that layer {}, `{}`, saves for backward",
                    keeper.number, keeper.layer
                );
                self.fault(numbered.number, numbered.text, Fault { message, hint: "write `relu`".to_owned() });
            }
            if !numbered.layer.hands_on() {
                kept = numbered.layer.keeps_its_output().then_some(numbered);
            }
        }
    }

    fn fault(&mut self, number: usize, text: &str, Fault { message, hint }: Fault) {
        self.problem("model.layers", format!("layer {number}, `{}`: {message}", excerpt(text)), hint);
    }

    /// Refuses jobs that can't be recorded with a list of layers.
    pub(super) fn check_cnn(&mut self, job: &Job) {
        if !matches!(job.model, Model::Cnn(_)) {
            return;
        }
        if job.checkpointing {
            self.problem("checkpointing", "the layers of a list are too small to be worth recomputing", "remove it");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::job;
    use crate::{Model, RawJob};

    #[test]
    fn a_list_is_a_model() {
        let layers = ["conv 32 3", "norm", "relu inplace", "pool 2", "dropout 0.25", "flatten", "linear 10 no_bias"];
        let model = format!("family = 'cnn'\nimage_size = 28\ninput = 1\nlayers = {layers:?}");
        let job = job(&format!("batch = 64\n[model]\n{model}"));
        let Model::Cnn(cnn) = &job.model else { panic!("{:?} is no list of layers", job.model) };
        assert_eq!(cnn.layers.iter().map(ToString::to_string).collect::<Vec<_>>(), layers);
        assert_eq!((cnn.classes(), cnn.input_channels, cnn.image_size), (10, 1, 28));
        assert_eq!(job.parameters(), (9 + 1) * 32 + 2 * 32 + 32 * 13 * 13 * 10);
    }

    #[test]
    fn a_model_with_a_list_needs_a_list() {
        let text = "model = { preset = 'vgg16', layers = 3 }";
        let problems = RawJob::from_toml(text).unwrap().resolve().unwrap_err();
        assert!(
            problems[0].to_string().starts_with("model.layers: this model needs a list of layers; for example, write")
        );
    }
}
