//! Imports configs of Hugging Face: a model's `config.json`, and the `TrainingArguments` of its training.
//!
//! Keys, meanings and defaults are those of transformers 5.23; keys of version 4 are accepted too.
//! Nothing is dropped in silence: each key is listed with what it became, or why it was ignored.

mod arguments;
mod config;
mod import;
mod kinds;
mod notes;

use super::document::{Format, KeyPlaces, Value};
use super::problem::Problem;
use super::raw::{Overrides, RawCheckpointing, RawJob};
use super::resolve::DEFAULT_STEPS;
use config::Weights;

pub use import::{Import, ImportNote};

/// A text with the name of its file.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Name of the file, whose extension decides the format.
    pub name: &'a str,
    pub text: &'a str,
}

impl Import {
    /// Reads a config of this project, or one of Hugging Face with the training arguments that belong to it.
    ///
    /// A config of Hugging Face is recognized by `model_type` or `architectures`, which this project's configs don't
    /// have.
    ///
    /// # Errors
    ///
    /// Returns an error if a text can't be parsed, a value has the wrong type, or the model can't be recorded.
    pub fn read(config: Source<'_>, arguments: Option<Source<'_>>) -> Result<Self, Vec<Problem>> {
        let value = parse(config)?;
        if value.get("model_type").is_none() && value.get("architectures").is_none() {
            if let Some(arguments) = arguments {
                let message = format!("`{}` is not a Hugging Face config", config.name);
                let hint = format!("omit `{}`, or provide the model's config.json", arguments.name);
                return Err(vec![Problem::in_text(None, message, hint)]);
            }
            if arguments::is_alone(&value) {
                let message = "these are training arguments, which do not name a model";
                let hint = "provide the model's config.json together with them";
                return Err(vec![Problem::in_text(None, message, hint)]);
            }
            let places = config.places();
            let job = RawJob::from_value(&value).map_err(|problems| places.locate(problems))?;
            return Ok(Self { job, places, ..Self::default() });
        }
        let mut import = Self { job: RawJob { steps: Some(DEFAULT_STEPS), ..RawJob::default() }, ..Self::default() };
        let mut problems = Vec::new();
        let weights = config::read(&value, &mut import, &mut problems);
        problems = config.places().locate(problems);
        let mixed = match arguments.map(parse) {
            Some(Ok(arguments)) => arguments::read(&arguments, &mut import, &mut problems),
            Some(Err(unread)) => {
                problems.extend(unread);
                None
            }
            None => None,
        };
        import.choose_precision(weights, mixed);
        import.settle_cache();
        import.choose_sequence();
        if problems.is_empty() { Ok(import) } else { Err(problems) }
    }

    /// Returns the import with some keys overridden.
    #[must_use]
    pub fn with(mut self, overrides: Overrides) -> Self {
        overrides.keys().for_each(|key| self.places.forget(key));
        Self { job: overrides.apply(self.job), ..self }
    }

    /// Combines the number format of the weights with that of the training.
    ///
    /// Mixed precision wins, because it usually keeps weights in 32 bits, whatever format a published checkpoint has.
    fn choose_precision(&mut self, weights: Option<Weights>, mixed: Option<&'static str>) {
        let Some(Weights { key, is_half }) = weights else {
            self.job.precision = mixed.map(str::to_owned);
            return;
        };
        let note = match (is_half, mixed) {
            (false, _) => "32-bit weights".to_owned(),
            (true, None | Some("tf32")) => "precision = \"bf16\": transformers 5 loads the weights in this format; \
                transformers 4 loads them in 32 bits by default (precision = \"fp32\")"
                .to_owned(),
            (true, Some(mixed)) => format!(
                "32-bit weights, because training uses {mixed}; write precision = \"bf16\" if they are loaded in 16 \
                 bits"
            ),
        };
        let precision = match (is_half, mixed) {
            (true, None | Some("tf32")) => Some("bf16"),
            (_, mixed) => mixed,
        };
        self.understood(key, note);
        self.job.precision = precision.map(str::to_owned);
    }

    /// Removes `use_cache` if checkpointing is on, which turns the cache off in Hugging Face's models too.
    fn settle_cache(&mut self) {
        let is_checkpointed = self.job.checkpointing.as_ref().is_some_and(RawCheckpointing::is_on);
        if let Some(model) = self.job.model.as_mut().filter(|_| is_checkpointed) {
            model.use_cache = None;
        }
    }

    /// Chooses a sequence length, because the model's config only has the longest one.
    fn choose_sequence(&mut self) {
        if self.reads_images() {
            return;
        }
        let most = self.job.model.as_ref().and_then(|model| model.max_positions).unwrap_or(config::GPT2_POSITIONS);
        let sequence = self.job.sequence.unwrap_or(most.min(USUAL_SEQUENCE)).min(most.max(1));
        if self.job.sequence != Some(sequence) {
            let note = format!("sequence = {sequence}; the model accepts up to {most}; --seq-len sets another length");
            self.understood("max_position_embeddings", note);
        }
        self.job.sequence = Some(sequence);
    }
}

/// Default number of tokens of a sample, if the model takes as many.
const USUAL_SEQUENCE: u64 = 2048;

impl Source<'_> {
    fn format(&self) -> Format {
        Format::of(self.name, self.text)
    }

    fn places(&self) -> KeyPlaces {
        KeyPlaces::of(self.text, self.format())
    }
}

fn parse(source: Source<'_>) -> Result<Value, Vec<Problem>> {
    Value::parse(source.text, source.format()).map_err(|problem| vec![problem])
}

#[cfg(test)]
mod tests;
