//! Reads imported files: Snapscope configs in any format, or Hugging Face configs.

use super::edit::to_toml;
use shared::job::{Format, Import, ImportNote, Problem, Source};

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
        assert_eq!(
            brought(&[file("mine.yaml", "model: gpt2")]).unwrap().text,
            "\n[model]\npreset = \"gpt2\"\n".trim_start()
        );
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        assert!(brought(&[file("config.json", "{\"model_type\": \"nothing\"}")]).is_err());
        assert_eq!(brought(&[]), Ok(Brought::default()));
    }
}
