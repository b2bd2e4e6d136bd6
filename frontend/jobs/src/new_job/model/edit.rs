//! Edits of a config's text, one key at a time, and texts that are brought from files.

use shared::job::{Format, Import, ImportNote, Problem, RawJob, Source};
use toml_edit::{Array, Decor, DocumentMut, InlineTable, Item, TableLike, Value};

/// Value that a form field sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FieldValue {
    Text(String),
    Whole(u64),
    Flag(bool),
}

impl FieldValue {
    fn into_toml(self) -> Value {
        match self {
            Self::Text(text) => text.into(),
            // A number above 63 bits is clamped; no key allows one that large, so the check refuses it anyway.
            Self::Whole(number) => i64::try_from(number).unwrap_or(i64::MAX).into(),
            Self::Flag(flag) => flag.into(),
        }
    }
}

/// Returns the key that a single word sets in place of a table, as in `model = "gpt2"`.
fn key_of_word(table: &str) -> Option<&'static str> {
    match table {
        "model" => Some("preset"),
        "optimizer" => Some("kind"),
        _ => None,
    }
}

/// Returns the text with a key set or removed, or `None` if the text is not valid TOML.
///
/// A path has one or two parts: `batch`, `optimizer.kind`.
pub(crate) fn set(text: &str, path: &str, value: Option<FieldValue>) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let value = value.map(FieldValue::into_toml);
    match path.split_once('.') {
        None => change(document.as_table_mut(), path, value),
        Some((table, key)) => set_in_table(&mut document, table, key, value),
    }
    Some(document.to_string())
}

/// Returns the value of a key in a table as it is written: a list with commas between its items.
///
/// A path has two parts, as in `sweep.batch`; `None` if the text is not valid TOML or has no such key.
pub(crate) fn written(text: &str, path: &str) -> Option<String> {
    let document: DocumentMut = text.parse().ok()?;
    let (table, key) = path.split_once('.')?;
    let value = document.get(table)?.as_table_like()?.get(key)?.as_value()?;
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string().trim().to_owned(), str::to_owned);
    let items = |array: &Array| array.iter().map(word).collect::<Vec<_>>().join(",");
    Some(value.as_array().map_or_else(|| word(value), items))
}

fn set_in_table(document: &mut DocumentMut, table: &str, key: &str, value: Option<Value>) {
    let word_key = key_of_word(table);
    match document.get_mut(table) {
        Some(item) if item.is_table_like() => {
            let Some(entries) = item.as_table_like_mut() else { return };
            change(entries, key, value);
            if entries.is_empty() {
                change(document.as_table_mut(), table, None);
            }
        }
        // Without a table, a value for the word's key is written as a single word.
        _ if word_key == Some(key) => change(document.as_table_mut(), table, value),
        item => {
            let Some(value) = value else { return };
            let word = item.as_ref().and_then(|item| item.as_str()).zip(word_key);
            let mut entries = InlineTable::new();
            if let Some((word, word_key)) = word {
                entries.insert(word_key, word.into());
            }
            entries.insert(key, value);
            change(document.as_table_mut(), table, Some(entries.into()));
        }
    }
}

/// Sets or removes an entry; comments beside its value and above its key stay.
fn change(table: &mut dyn TableLike, key: &str, value: Option<Value>) {
    let Some(mut value) = value else { return remove(table, key) };
    match table.get_mut(key) {
        Some(Item::Value(old)) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        _ => drop(table.insert(key, Item::Value(value))),
    }
}

fn remove(table: &mut dyn TableLike, key: &str) {
    let comment = table.key(key).and_then(|key| prefix(key.leaf_decor())).filter(|text| text.contains('#'));
    let next = table.iter().map(|(key, _)| key).skip_while(|name| *name != key).nth(1).map(str::to_owned);
    table.remove(key);
    let (Some(comment), Some(next)) = (comment, next) else { return };
    let Some(mut key) = table.key_mut(&next) else { return };
    let below = prefix(key.leaf_decor()).unwrap_or_default();
    key.leaf_decor_mut().set_prefix(comment + &below);
}

fn prefix(decor: &Decor) -> Option<String> {
    decor.prefix()?.as_str().map(str::to_owned)
}

/// Writes a config as TOML, for configs that came in another format or from Hugging Face.
pub(crate) fn to_toml(job: &RawJob) -> String {
    // Every config can be written as TOML, so this does not fail.
    toml_edit::ser::to_string_pretty(job).unwrap_or_default()
}

/// Text file with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextFile {
    pub name: String,
    pub text: String,
}

/// Result of importing files.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Brought {
    /// Config in TOML.
    pub text: String,
    /// Foreign keys that Snapscope uses.
    pub understood: Vec<ImportNote>,
    /// Foreign keys that it ignores.
    pub ignored: Vec<ImportNote>,
}

/// Reads one config, or a Hugging Face config with its training arguments, in either order.
///
/// # Errors
/// Returns the problems of the files if they can't be read as a config.
pub(crate) fn brought(files: &[TextFile]) -> Result<Brought, Vec<Problem>> {
    let source = |file: &'static str, index: usize| {
        files.get(index).map(|TextFile { name, text }| Source { name: if name.is_empty() { file } else { name }, text })
    };
    let (Some(first), second) = (source("config", 0), source("training arguments", 1)) else {
        return Ok(Brought::default());
    };
    if second.is_none() && Format::of(first.name, first.text) == Format::Toml {
        return Ok(Brought { text: first.text.to_owned(), ..Brought::default() });
    }
    let read = match (Import::read(first, second), second) {
        (Err(problems), Some(second)) => Import::read(second, Some(first)).map_err(|_| problems),
        (read, _) => read,
    };
    let Import { job, understood, ignored, .. } = read?;
    Ok(Brought { text: to_toml(&job), understood, ignored })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(word: &str) -> Option<FieldValue> {
        Some(FieldValue::Text(word.to_owned()))
    }

    #[track_caller]
    fn check(before: &str, path: &str, value: Option<FieldValue>, after: &str) {
        assert_eq!(set(before, path, value).unwrap(), after);
    }

    #[test]
    fn one_key_changes_and_comments_stay() {
        let before = "# A config\nmodel = \"gpt2\" # small\nbatch = 2   # for now\n\n[data]\nseed = 1\n";
        let after = "# A config\nmodel = \"gpt2\" # small\nbatch = 8   # for now\n\n[data]\nseed = 1\n";
        check(before, "batch", Some(FieldValue::Whole(8)), after);
        let (before, after) = ("a = 1\n[data]\nseed = 1\n", "a = 1\nsteps = 2\n[data]\nseed = 1\n");
        check(before, "steps", Some(FieldValue::Whole(2)), after);
        check("", "checkpointing", Some(FieldValue::Flag(true)), "checkpointing = true\n");
    }

    #[test]
    fn a_removed_key_leaves_its_comment() {
        check("# head\nname = \"x\"\nbatch = 2\n", "name", None, "# head\nbatch = 2\n");
        check("batch = 2\n", "steps", None, "batch = 2\n");
        check("batch = 2\n", "model.attention", None, "batch = 2\n");
    }

    #[test]
    fn words_become_tables_only_where_they_must() {
        check("model = \"gpt2\"\n", "model.preset", text("mlp"), "model = \"mlp\"\n");
        check("", "optimizer.kind", text("sgd"), "optimizer = \"sgd\"\n");
        let table = "optimizer = { kind = \"adam\", implementation = \"fused\" }\n";
        check("optimizer = \"adam\"\n", "optimizer.implementation", text("fused"), table);
        check("[optimizer]\nkind = \"adam\"\n", "optimizer.kind", text("sgd"), "[optimizer]\nkind = \"sgd\"\n");
        check("a = 1\n[optimizer]\nkind = \"adam\"\n", "optimizer.kind", None, "a = 1\n");
    }

    #[test]
    fn ranges_are_read_as_they_are_written() {
        let text = "sweep = { batch = \"1..8x2\", sequence = [512, '1024..4096x2'] }\n[data]\nseed = 3\n";
        assert_eq!(written(text, "sweep.batch").as_deref(), Some("1..8x2"));
        assert_eq!(written(text, "sweep.sequence").as_deref(), Some("512,1024..4096x2"));
        assert_eq!(written(text, "data.seed").as_deref(), Some("3"));
        assert_eq!((written(text, "sweep.card"), written("= ", "sweep.card")), (None, None));
    }

    #[test]
    fn what_is_no_toml_is_left_alone() {
        assert_eq!(set("batch = ", "batch", None), None);
    }

    #[test]
    fn any_config_can_be_written_as_toml() {
        let json = r#"{"model": {"family": "cnn", "layers": ["conv 8 3", "flatten", "linear 10"], "image_size": 8},
            "optimizer": {"betas": [0.9, 0.95], "epsilon": 1e-10}, "checkpointing": {"every": 2}, "batch": 4}"#;
        let raw = RawJob::from_json(json).unwrap();
        assert_eq!(RawJob::from_toml(&to_toml(&raw)), Ok(raw));
    }

    fn file(name: &str, text: &str) -> TextFile {
        TextFile { name: name.to_owned(), text: text.to_owned() }
    }

    const MODEL: &str = r#"{"model_type": "gpt2", "n_layer": 6, "task_specific_params": {}}"#;
    const ARGUMENTS: &str = r#"{"per_device_train_batch_size": 4, "bf16": true}"#;

    #[test]
    fn a_foreign_config_becomes_toml() {
        let brought = brought(&[file("config.json", MODEL)]).unwrap();
        assert!(brought.text.contains("layers = 6"), "{}", brought.text);
        assert!(brought.understood.iter().any(|note| note.key == "n_layer"));
        assert!(brought.ignored.iter().any(|note| note.key == "task_specific_params"));
    }

    #[test]
    fn training_arguments_come_in_any_order() {
        let files = [file("config.json", MODEL), file("training_args.json", ARGUMENTS)];
        let forth = brought(&files).unwrap();
        assert!(forth.text.contains("batch = 4"), "{}", forth.text);
        let [config, arguments] = files;
        assert_eq!(brought(&[arguments, config]), Ok(forth));
    }

    #[test]
    fn our_own_toml_stays_as_it_is() {
        let text = "# with a comment\nmodel = \"gpt2\"\n";
        assert_eq!(brought(&[file("mine.toml", text)]).unwrap().text, text);
        let yaml = brought(&[file("mine.yaml", "model: gpt2")]).unwrap();
        assert_eq!(yaml.text, "[model]\npreset = \"gpt2\"\n");
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        assert!(brought(&[file("config.json", "{\"model_type\": \"nothing\"}")]).is_err());
        assert_eq!(brought(&[]), Ok(Brought::default()));
    }
}
