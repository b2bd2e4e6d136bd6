//! A model's `config.json`.

use super::super::document::Value;
use super::super::nearest::did_you_mean;
use super::super::problem::{Problem, excerpt};
use super::super::raw::{RawModel, Sizes};
use super::super::reader::Reader;
use super::{Import, Weights, notes};

/// Positions of a GPT-2 whose config says nothing.
pub(super) const GPT2_POSITIONS: u64 = 1024;

/// What can be recorded: `model_type`, the class, and our word.
const MODELS: &[(&str, &str, &str)] = &[("gpt2", "GPT2LMHeadModel", "gpt2"), ("llama", "LlamaForCausalLM", "llama")];

/// Activations by Hugging Face's names, and ours.
const ACTIVATIONS: &[(&str, &str)] =
    &[("gelu_new", "gelu_new"), ("gelu", "gelu"), ("gelu_pytorch_tanh", "gelu_tanh"), ("relu", "relu")];

/// Activations of gates by Hugging Face's names, and ours.
const GATES: &[(&str, &str)] = &[("silu", "swiglu"), ("swish", "swiglu")];

/// Attention implementations by Hugging Face's names, and ours.
const ATTENTIONS: &[(&str, &str)] =
    &[("sdpa", "sdpa"), ("eager", "eager"), ("flash_attention_2", "flash"), ("flash_attention_3", "flash")];

/// Reads a model's config into the job's model; the rest of the job is filled in by others.
pub(super) fn read(value: &Value, import: &mut Import, problems: &mut Vec<Problem>) -> Option<Weights> {
    let Value::Table(entries) = value else { return None };
    let architecture = architecture(value, import, problems)?;
    let mut file =
        File { import, reader: Reader::new(problems), model: start(architecture), weights: None, architecture };
    for (key, value) in entries.iter().filter(|(key, _)| key != "model_type") {
        if *value == Value::Null {
            file.import.ignored(key, "not set");
        } else {
            file.key(key, value);
        }
    }
    let File { model, weights, .. } = file;
    import.job.model = Some(model);
    weights
}

/// The word for the model that a config is of.
fn architecture(value: &Value, import: &mut Import, problems: &mut Vec<Problem>) -> Option<&'static str> {
    let (key, name) = match (value.get("model_type"), value.get("architectures")) {
        (Some(Value::Text(name)), _) => ("model_type", name.as_str()),
        (_, Some(Value::List(names))) => match names.first() {
            Some(Value::Text(name)) => ("architectures", name.as_str()),
            _ => ("architectures", ""),
        },
        _ => ("model_type", ""),
    };
    let known = MODELS.iter().find(|(kind, class, _)| name == *kind || name == *class);
    if let Some((_, class, word)) = known {
        import.understood(key, format!("model.architecture = \"{word}\", trained as {class}"));
    } else {
        let kinds = MODELS.iter().map(|(kind, ..)| *kind);
        let hint = did_you_mean(name, kinds.clone());
        let hint = hint.unwrap_or_else(|| format!("there are {}", kinds.collect::<Vec<_>>().join(", ")));
        problems.push(Problem::new(key, format!("models of the type `{}` can't be recorded", excerpt(name)), hint));
    }
    known.map(|(_, _, word)| *word)
}

/// The model of a config that says nothing, where it is not our own default.
fn start(architecture: &str) -> RawModel {
    let model = RawModel {
        family: Some("transformer".to_owned()),
        architecture: Some(architecture.to_owned()),
        ..RawModel::default()
    };
    if architecture == "gpt2" {
        return model;
    }
    RawModel { intermediate: Some(11_008), max_positions: Some(2048), norm_epsilon: Some(1e-6), ..model }
}

struct File<'a, 'p> {
    import: &'a mut Import,
    reader: Reader<'p>,
    model: RawModel,
    weights: Option<Weights>,
    architecture: &'static str,
}

impl File<'_, '_> {
    /// Takes one key that is set.
    fn key(&mut self, key: &str, value: &Value) {
        let field = match (self.architecture, key) {
            (_, "torch_dtype" | "dtype") => return self.dtype(key, value),
            (_, "rope_parameters") => return self.rope(value),
            (_, "attn_implementation" | "_attn_implementation") => return self.attention(key, value),
            (_, "architectures") => return self.class(value),
            (_, "_name_or_path" | "name_or_path") => return self.name(key, value),
            ("gpt2", "activation_function") | ("llama", "hidden_act") => return self.activation(key, value),
            (_, "gradient_checkpointing") => {
                self.import.job.checkpointing = self.reader.value(key, value);
                return self.became(key, "checkpointing", value);
            }
            _ => self.size(key, value).or_else(|| self.number(key, value)).or_else(|| self.flag(key, value)),
        };
        match field {
            Some(field) => self.became(key, &format!("model.{field}"), value),
            None if *value == Value::Bool(false) => self.import.ignored(key, "off"),
            None => self.import.ignored(key, notes::why_config(key)),
        }
    }

    fn became(&mut self, key: &str, field: &str, value: &Value) {
        self.import.understood(key, format!("{field} = {}", value.describe()));
    }

    /// A whole number, and the field that it went to.
    fn size(&mut self, key: &str, value: &Value) -> Option<&'static str> {
        let model = &mut self.model;
        if let ("gpt2", "n_embd") | (_, "hidden_size") = (self.architecture, key) {
            model.hidden = self.reader.value(key, value).map(Sizes::One);
            return Some("hidden");
        }
        let (field, slot) = match (self.architecture, key) {
            (_, "vocab_size") => ("vocabulary", &mut model.vocabulary),
            ("gpt2", "n_layer") | (_, "num_hidden_layers") => ("layers", &mut model.layers),
            ("gpt2", "n_head") | (_, "num_attention_heads") => ("heads", &mut model.heads),
            ("gpt2", "n_inner") | ("llama", "intermediate_size") => ("intermediate", &mut model.intermediate),
            ("gpt2", "n_positions") | (_, "max_position_embeddings") => ("max_positions", &mut model.max_positions),
            ("llama", "num_key_value_heads") => ("kv_heads", &mut model.kv_heads),
            ("llama", "head_dim") => ("head_dim", &mut model.head_dim),
            _ => return None,
        };
        *slot = self.reader.value(key, value);
        Some(field)
    }

    /// A real number, and the field that it went to.
    fn number(&mut self, key: &str, value: &Value) -> Option<&'static str> {
        let model = &mut self.model;
        let (field, slot) = match (self.architecture, key) {
            ("gpt2", "embd_pdrop") => ("embedding_dropout", &mut model.embedding_dropout),
            ("gpt2", "attn_pdrop") | ("llama", "attention_dropout") => {
                ("attention_dropout", &mut model.attention_dropout)
            }
            ("gpt2", "resid_pdrop") => ("residual_dropout", &mut model.residual_dropout),
            ("gpt2", "layer_norm_epsilon") | ("llama", "rms_norm_eps") => ("norm_epsilon", &mut model.norm_epsilon),
            ("llama", "rope_theta") => ("rope_theta", &mut model.rope_theta),
            _ => return None,
        };
        *slot = self.reader.value(key, value);
        Some(field)
    }

    /// A truth value, and the field that it went to.
    fn flag(&mut self, key: &str, value: &Value) -> Option<&'static str> {
        let model = &mut self.model;
        let (field, slot) = match (self.architecture, key) {
            (_, "tie_word_embeddings") => ("tied_head", &mut model.tied_head),
            (_, "use_cache") => ("use_cache", &mut model.use_cache),
            ("llama", "attention_bias") => ("attention_bias", &mut model.attention_bias),
            ("llama", "mlp_bias") => ("mlp_bias", &mut model.mlp_bias),
            _ => return None,
        };
        *slot = self.reader.value(key, value);
        Some(field)
    }

    /// The format that weights were saved in; the job's precision is chosen once the training is known.
    fn dtype(&mut self, key: &str, value: &Value) {
        let Some(dtype) = self.reader.value::<String>(key, value) else { return };
        let key = if key == "dtype" { "dtype" } else { "torch_dtype" };
        match dtype.strip_prefix("torch.").unwrap_or(&dtype) {
            "float32" | "float" => self.weights = Some(Weights { key, is_half: false }),
            "bfloat16" => self.weights = Some(Weights { key, is_half: true }),
            "float16" | "half" => {
                self.weights = Some(Weights { key, is_half: true });
                self.import.understood(key, "weights in float16 take the memory of bfloat16");
            }
            other => self.import.ignored(key, format!("`{}` is not modelled", excerpt(other))),
        }
    }

    /// Where transformers 5 keeps what was `rope_theta` and `rope_scaling`.
    fn rope(&mut self, value: &Value) {
        if let Some(theta) = value.get("rope_theta") {
            self.model.rope_theta = self.reader.value("rope_parameters.rope_theta", theta);
            self.became("rope_parameters.rope_theta", "model.rope_theta", theta);
        }
        self.import.ignored("rope_parameters", "scaling of positions does not change device memory");
    }

    /// Where the model was loaded from: the best name there is.
    fn name(&mut self, key: &str, value: &Value) {
        match value {
            Value::Text(name) if !name.is_empty() => {
                let name = excerpt(name);
                self.import.understood(key, format!("name = \"{name}\""));
                self.import.job.name = Some(name);
            }
            _ => self.import.ignored(key, "empty"),
        }
    }

    fn class(&mut self, value: &Value) {
        let class = match value {
            Value::List(names) => names.first(),
            _ => None,
        };
        let Some(Value::Text(class)) = class else { return self.import.ignored("architectures", "no name of a class") };
        if !MODELS.iter().any(|(_, known, word)| class == known && *word == self.architecture) {
            let note = format!("`{}` is recorded as a language model with its head", excerpt(class));
            self.import.ignored("architectures", note);
        }
    }

    fn attention(&mut self, key: &str, value: &Value) {
        let Some(name) = self.reader.value::<String>(key, value) else { return };
        match ATTENTIONS.iter().find(|(known, _)| *known == name) {
            Some((_, word)) => {
                self.model.attention = Some((*word).to_owned());
                self.import.understood(key, format!("model.attention = \"{word}\""));
            }
            None => self.import.ignored(key, format!("`{}` is not modelled; sdpa stands in", excerpt(&name))),
        }
    }

    fn activation(&mut self, key: &str, value: &Value) {
        let Some(name) = self.reader.value::<String>(key, value) else { return };
        let known = if self.architecture == "llama" { GATES } else { ACTIVATIONS };
        let Some((_, word)) = known.iter().find(|(known, _)| *known == name) else {
            let names = known.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
            let message = format!("`{}` is not modelled", excerpt(&name));
            return self.reader.problem(key, message, &format!("there are {names}"));
        };
        self.model.activation = Some((*word).to_owned());
        self.import.understood(key, format!("model.activation = \"{word}\""));
    }
}
