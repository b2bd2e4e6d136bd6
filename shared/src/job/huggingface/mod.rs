//! Hugging Face's configs into ours: a model's `config.json`, and the `TrainingArguments` of its training.
//!
//! Their keys, meanings and defaults are those of transformers 5.23; keys of version 4 are understood too.
//! Nothing is dropped in silence: each key is listed with what it became, or why it was ignored.

mod arguments;
mod config;
mod notes;
mod resnet;
mod start;

use super::document::{Format, KeyPlaces, Value};
use super::overrides::Overrides;
use super::problem::Problem;
use super::raw::{RawCheckpointing, RawJob};
use super::resolve::DEFAULT_STEPS;

/// A text and the name of its file.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The file's name: its end tells the format.
    pub name: &'a str,
    /// What it holds.
    pub text: &'a str,
}

/// A config that was read, and what became of each foreign key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Import {
    /// The config in our words.
    pub job: RawJob,
    /// Foreign keys that mean something here.
    pub understood: Vec<ImportNote>,
    /// Foreign keys that don't.
    pub ignored: Vec<ImportNote>,
    /// Where the keys of the config stand; empty for a foreign one, whose keys are others than the job's.
    pub places: KeyPlaces,
}

/// What became of a foreign key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportNote {
    /// The key, such as `n_embd`.
    pub key: String,
    /// What it became, such as `model.hidden = 768`, or why it was ignored; without a full stop.
    pub note: String,
}

impl Import {
    /// Reads a config of either kind: ours, or Hugging Face's with the training arguments that belong to it.
    ///
    /// Hugging Face's is known by `model_type` or `architectures`, which ours don't have.
    ///
    /// # Errors
    ///
    /// A text can't be read, a value has the wrong type, or the model is not one that can be recorded.
    pub fn read(config: Source<'_>, arguments: Option<Source<'_>>) -> Result<Self, Vec<Problem>> {
        let value = parse(config)?;
        if value.get("model_type").is_none() && value.get("architectures").is_none() {
            if let Some(arguments) = arguments {
                let message = format!("`{}` is no config of Hugging Face", config.name);
                let hint = format!("leave `{}` out, or bring the model's config.json", arguments.name);
                return Err(vec![Problem::in_text(None, message, hint)]);
            }
            if arguments::is_alone(&value) {
                let hint = "bring the config.json of the model together with them";
                return Err(vec![Problem::in_text(None, "these are training arguments, which name no model", hint)]);
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

    /// The same with some keys overridden.
    #[must_use]
    pub fn with(mut self, overrides: Overrides) -> Self {
        overrides.keys().for_each(|key| self.places.forget(key));
        Self { job: overrides.apply(self.job), ..self }
    }

    /// Whether the model is of a family.
    fn is_of(&self, family: &str) -> bool {
        self.job.model.as_ref().is_some_and(|model| model.family.as_deref() == Some(family))
    }

    fn reads_images(&self) -> bool {
        self.is_of("vit") || self.is_of("resnet")
    }

    fn understood(&mut self, key: &str, note: impl Into<String>) {
        self.understood.push(ImportNote { key: key.to_owned(), note: note.into() });
    }

    fn ignored(&mut self, key: &str, note: impl Into<String>) {
        self.ignored.push(ImportNote { key: key.to_owned(), note: note.into() });
    }

    /// Joins the format of the weights with that of the training.
    ///
    /// Mixed precision wins: its usual form keeps weights in 32 bits, whatever a published checkpoint was saved in.
    fn choose_precision(&mut self, weights: Option<Weights>, mixed: Option<&'static str>) {
        let Some(Weights { key, is_half }) = weights else {
            self.job.precision = mixed.map(str::to_owned);
            return;
        };
        let note = match (is_half, mixed) {
            (false, _) => "weights in 32 bits".to_owned(),
            (true, None | Some("tf32")) => "precision = \"bf16\": weights as transformers 5 loads them; \
                transformers 4 makes them 32 bits wide unless told otherwise (precision = \"fp32\")"
                .to_owned(),
            (true, Some(mixed)) => format!(
                "weights in 32 bits, since training is {mixed}; write precision = \"bf16\" if they are loaded in 16"
            ),
        };
        let precision = match (is_half, mixed) {
            (true, None | Some("tf32")) => Some("bf16"),
            (_, mixed) => mixed,
        };
        self.understood(key, note);
        self.job.precision = precision.map(str::to_owned);
    }

    /// Checkpointing turns a model's cache off, as Hugging Face's models do.
    fn settle_cache(&mut self) {
        let is_checkpointed = self.job.checkpointing.as_ref().is_some_and(RawCheckpointing::is_on);
        if let Some(model) = self.job.model.as_mut().filter(|_| is_checkpointed) {
            model.use_cache = None;
        }
    }

    /// The config knows the longest sequence, not the one that is trained with.
    fn choose_sequence(&mut self) {
        if self.reads_images() {
            return;
        }
        let most = self.job.model.as_ref().and_then(|model| model.max_positions).unwrap_or(config::GPT2_POSITIONS);
        let sequence = self.job.sequence.unwrap_or(most.min(USUAL_SEQUENCE)).min(most.max(1));
        if self.job.sequence != Some(sequence) {
            let note = format!("sequence = {sequence}; the model takes up to {most}; choose with --seq-len");
            self.understood("max_position_embeddings", note);
        }
        self.job.sequence = Some(sequence);
    }
}

/// In which format a model's config wants its weights, and the key that said so.
struct Weights {
    key: &'static str,
    is_half: bool,
}

/// Tokens of a sample where no file says, if the model takes as many.
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
