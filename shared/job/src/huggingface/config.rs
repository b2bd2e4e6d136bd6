//! Imports a model's `config.json`.

use super::super::cnn::Layers;
use super::super::document::Value;
use super::super::problem::{Problem, RUN, excerpt};
use super::super::raw::{RawModel, Sizes};
use super::super::reader::Reader;
use super::import::Import;
use super::kinds::{KINDS, Kind, SHAPE_KEYS, SHAPE_NOTE, resnet_shape};
use super::notes;

/// Number format that a model's config wants for its weights, and the key that set it.
pub(super) struct Weights {
    pub key: &'static str,
    pub is_half: bool,
}

/// Default number of positions of GPT-2.
pub(super) const GPT2_POSITIONS: u64 = 1024;

/// Activations by Hugging Face's names, with the names of this project.
const ACTIVATIONS: &[(&str, &str)] =
    &[("gelu_new", "gelu_new"), ("gelu", "gelu"), ("gelu_pytorch_tanh", "gelu_tanh"), ("relu", "relu")];

/// Activations of gates by Hugging Face's names, with the names of this project.
const GATES: &[(&str, &str)] = &[("silu", "swiglu"), ("swish", "swiglu")];

/// Attention implementations by Hugging Face's names, with the names of this project.
const ATTENTIONS: &[(&str, &str)] =
    &[("sdpa", "sdpa"), ("eager", "eager"), ("flash_attention_2", "flash"), ("flash_attention_3", "flash")];

/// Kinds of keys that have a key, all if empty, with the key and the key of a model that it stands for.
const FIELDS: &[(&str, &str, &str)] = &[
    ("", "hidden_size", "hidden"),
    ("gpt2", "n_embd", "hidden"),
    ("", "num_hidden_layers", "layers"),
    ("gpt2", "n_layer", "layers"),
    ("", "vocab_size", "vocabulary"),
    ("", "num_attention_heads", "heads"),
    ("gpt2", "n_head", "heads"),
    ("llama", "num_key_value_heads", "kv_heads"),
    ("llama", "head_dim", "head_dim"),
    ("gpt2", "n_inner", "intermediate"),
    ("llama bert", "intermediate_size", "intermediate"),
    ("", "max_position_embeddings", "max_positions"),
    ("gpt2", "n_positions", "max_positions"),
    ("bert", "type_vocab_size", "token_types"),
    ("resnet", "num_labels", "classes"),
    ("gpt2", "embd_pdrop", "embedding_dropout"),
    ("gpt2", "attn_pdrop", "attention_dropout"),
    ("llama", "attention_dropout", "attention_dropout"),
    ("bert", "attention_probs_dropout_prob", "attention_dropout"),
    ("gpt2", "resid_pdrop", "residual_dropout"),
    ("bert", "hidden_dropout_prob", "residual_dropout"),
    ("gpt2", "layer_norm_epsilon", "norm_epsilon"),
    ("llama", "rms_norm_eps", "norm_epsilon"),
    ("bert", "layer_norm_eps", "norm_epsilon"),
    ("llama", "rope_theta", "rope_theta"),
    ("", "tie_word_embeddings", "tied_head"),
    ("", "use_cache", "use_cache"),
];

/// Keys that only Llama itself reads, which have the same names here.
const OF_LLAMA: &[&str] = &["attention_bias", "mlp_bias"];

/// Reads a model's config into the job's model; other functions fill in the rest of the job.
pub(super) fn read(value: &Value, import: &mut Import, problems: &mut Vec<Problem>) -> Option<Weights> {
    let Value::Table(entries) = value else { return None };
    let kind = kind(value, import, problems)?;
    let reader = Reader::new(problems);
    let mut file = File { import, reader, model: (kind.start)(), weights: None, kind };
    for (key, value) in entries.iter().filter(|(key, _)| key != "model_type") {
        if *value == Value::Null {
            file.import.ignored(key, "not set");
        } else {
            file.key(key, value);
        }
    }
    if kind.keys == "resnet" {
        resnet_shape(value, &mut file.model, &mut file.reader);
    }
    let File { model, weights, .. } = file;
    import.job.model = Some(model);
    weights
}

/// Returns the kind of the model that a config describes.
fn kind(value: &Value, import: &mut Import, problems: &mut Vec<Problem>) -> Option<Kind> {
    let (key, name) = match (value.get("model_type"), value.get("architectures")) {
        (Some(Value::Text(name)), _) => ("model_type", name.as_str()),
        (_, Some(Value::List(names))) => match names.first() {
            Some(Value::Text(name)) => ("architectures", name.as_str()),
            _ => ("architectures", ""),
        },
        _ => ("model_type", ""),
    };
    let known = KINDS.iter().find(|kind| name == kind.name || name == kind.class);
    if let Some(Kind { class, keys, .. }) = known {
        let field = if matches!(*keys, "gpt2" | "llama") { "architecture" } else { "family" };
        import.understood(key, format!("model.{field} = \"{keys}\", trained as {class}"));
    } else {
        let kinds = KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
        let hint = format!("the supported types are {kinds}, and {RUN}");
        problems.push(Problem::new(key, format!("models of type `{}` are not supported", excerpt(name)), hint));
    }
    known.copied()
}

struct File<'a, 'p> {
    import: &'a mut Import,
    reader: Reader<'p>,
    model: RawModel,
    weights: Option<Weights>,
    kind: Kind,
}

impl File<'_, '_> {
    /// Takes a key that has a value.
    fn key(&mut self, key: &str, value: &Value) {
        let field = match (self.kind.keys, key) {
            (_, "torch_dtype" | "dtype") => return self.dtype(key, value),
            (_, "rope_parameters") => return self.rope(value),
            ("gpt2" | "llama" | "bert", "attn_implementation" | "_attn_implementation") => {
                return self.attention(key, value);
            }
            (_, "architectures") => return self.class(value),
            (_, "_name_or_path" | "name_or_path") => return self.name(key, value),
            ("gpt2", "activation_function") | ("llama" | "bert", "hidden_act") => {
                return self.activation(key, value);
            }
            ("resnet", "id2label") => return self.labels(value),
            ("llama", "sliding_window") => return self.window(value),
            ("bert", "tie_word_embeddings") if *value == Value::Bool(true) => {
                return self.import.understood(key, "the head uses the token embedding's weights");
            }
            ("resnet", key) if SHAPE_KEYS.contains(&key) => return self.import.understood(key, SHAPE_NOTE),
            ("resnet", "hidden_act") => return self.relu(value),
            ("bert" | "resnet", "tie_word_embeddings" | "use_cache") => {
                return self.import.ignored(key, notes::why_encoder(key));
            }
            (_, "gradient_checkpointing") => {
                self.import.job.checkpointing = self.reader.value(key, value);
                return self.became(key, "checkpointing", value);
            }
            _ => self.field(key, value),
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

    /// Reads a key that a key of the model stands for, and returns that key.
    fn field(&mut self, key: &str, value: &Value) -> Option<&'static str> {
        let is_of = |kinds: &str| kinds.is_empty() || kinds.split(' ').any(|kind| kind == self.kind.keys);
        let own = OF_LLAMA.iter().filter(|_| self.kind.name == "llama").find(|own| **own == key);
        let known = FIELDS.iter().find(|(kinds, known, _)| *known == key && is_of(kinds)).map(|(.., field)| field);
        let field = *known.or(own)?;
        match field {
            "hidden" => self.model.hidden = self.reader.value(key, value).map(Sizes::One),
            "layers" => self.model.layers = self.reader.value(key, value).map(Layers::Count),
            field => _ = self.model.set(field, key, value, &mut self.reader),
        }
        Some(field)
    }

    /// Reads the number format of the weights; the job's precision is chosen once the training is known.
    fn dtype(&mut self, key: &str, value: &Value) {
        let Some(dtype) = self.reader.value::<String>(key, value) else { return };
        let key = if key == "dtype" { "dtype" } else { "torch_dtype" };
        match dtype.strip_prefix("torch.").unwrap_or(&dtype) {
            "float32" | "float" => self.weights = Some(Weights { key, is_half: false }),
            "bfloat16" => self.weights = Some(Weights { key, is_half: true }),
            "float16" | "half" => {
                self.weights = Some(Weights { key, is_half: true });
                self.import.understood(key, "float16 weights take as much memory as bfloat16");
            }
            other => self.import.ignored(key, format!("`{}` is not modeled", excerpt(other))),
        }
    }

    /// Reads the key in which transformers 5 keeps the former `rope_theta` and `rope_scaling`.
    fn rope(&mut self, value: &Value) {
        if let Some(theta) = value.get("rope_theta") {
            self.model.rope_theta = self.reader.value("rope_parameters.rope_theta", theta);
            self.became("rope_parameters.rope_theta", "model.rope_theta", theta);
        }
        self.import.ignored("rope_parameters", "scaling of positions does not change device memory");
    }

    /// Reads where the model was loaded from, which is the best name available.
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
        let Some(Value::Text(class)) = class else { return self.import.ignored("architectures", "no class name") };
        if class != self.kind.class {
            let note = format!("`{}` is recorded as {}", excerpt(class), self.kind.class);
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
            None => self.import.ignored(key, format!("`{}` is not modeled; sdpa is used instead", excerpt(&name))),
        }
    }

    fn activation(&mut self, key: &str, value: &Value) {
        let Some(name) = self.reader.value::<String>(key, value) else { return };
        let known = if self.kind.keys == "llama" { GATES } else { ACTIVATIONS };
        let Some((_, word)) = known.iter().find(|(known, _)| *known == name) else {
            let names = known.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
            let message = format!("`{}` is not supported", excerpt(&name));
            return self.reader.problem(key, message, &format!("the supported activations are {names}"));
        };
        self.model.activation = Some((*word).to_owned());
        self.import.understood(key, format!("model.activation = \"{word}\""));
    }

    /// Checks the activation of a residual network, which can only be ReLU.
    fn relu(&mut self, value: &Value) {
        if *value == Value::Text("relu".to_owned()) {
            return self.import.understood("hidden_act", "relu");
        }
        let message = format!("{} is not supported", value.describe());
        self.reader.problem("hidden_act", message, "the only supported activation is relu");
    }

    /// Counts the names of the classes.
    fn labels(&mut self, value: &Value) {
        let Value::Table(names) = value else { return self.import.ignored("id2label", "not a table of names") };
        self.model.classes = Some(names.len() as u64);
        self.import.understood("id2label", format!("model.classes = {}", names.len()));
    }

    /// Explains why the attention window is ignored.
    ///
    /// Longer sequences than the window have a mask, which changes memory but is not modelled.
    fn window(&mut self, value: &Value) {
        let note = match self.kind.name {
            "qwen2" => "off unless use_sliding_window is on".to_owned(),
            "mistral" => {
                format!("sequences of more than {} tokens use a mask, which is not modeled", value.describe())
            }
            _ => notes::why_config("sliding_window").to_owned(),
        };
        self.import.ignored("sliding_window", note);
    }
}
