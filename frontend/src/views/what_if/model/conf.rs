//! Reads and edits the text of `PYTORCH_CUDA_ALLOC_CONF`, for the controls of the form.
//!
//! The text is the state: a control changes only its own option and leaves the rest as it was typed.

use shared::allocator::{Settings, TorchVersion, options};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    Switch,
    /// A whole number from `least` on.
    Number {
        least: u32,
    },
    /// A number between 0 and 1.
    Share,
    Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub key: &'static str,
    pub label: &'static str,
    pub placeholder: &'static str,
    /// Effect of the option and its accepted values.
    pub hint: &'static str,
    pub kind: FieldKind,
}

/// Options that have a control, the most useful ones first.
pub const FIELDS: [Field; 7] = [
    Field {
        key: "expandable_segments",
        label: "Expandable segments",
        placeholder: "",
        hint: "Segments grow page by page, which reduces fragmentation",
        kind: FieldKind::Switch,
    },
    Field {
        key: "max_split_size_mb",
        label: "Max split size, MiB",
        placeholder: "no limit",
        hint: "Larger blocks are never split; at least 20",
        kind: FieldKind::Number { least: 20 },
    },
    Field {
        key: "roundup_power2_divisions",
        label: "Roundup divisions",
        placeholder: "off",
        hint: "Number of steps between powers of two to which sizes are rounded up; a power of two, or a list such as \
               [256:4,>:2]",
        kind: FieldKind::Text,
    },
    Field {
        key: "large_segment_size_mb",
        label: "Large segment size, MiB",
        placeholder: "20",
        hint: "Size of the segments that requests of 1 to 10 MiB share; more than 10",
        kind: FieldKind::Number { least: 11 },
    },
    Field {
        key: "max_non_split_rounding_mb",
        label: "Non-split rounding, MiB",
        placeholder: "20",
        hint: "How much larger than the request an unsplit block can be; at least 20",
        kind: FieldKind::Number { least: 20 },
    },
    Field {
        key: "per_process_memory_fraction",
        label: "Memory fraction",
        placeholder: "1",
        hint: "Fraction of GPU memory that the process can use; 0 to 1",
        kind: FieldKind::Share,
    },
    Field {
        key: "garbage_collection_threshold",
        label: "Garbage collection threshold",
        placeholder: "off",
        hint: "Fraction of the allowed memory above which cached memory is released; needs a memory fraction below 1",
        kind: FieldKind::Share,
    },
];

fn key_of(option: &str) -> &str {
    option.split_once(':').map_or(option, |(key, _)| key).trim()
}

/// Returns the value of an option, empty if it is not set.
///
/// If it is set several times the last value counts, as in PyTorch.
pub fn option<'a>(conf: &'a str, key: &str) -> &'a str {
    let set = options(conf).filter(|option| key_of(option) == key).last();
    set.and_then(|option| option.split_once(':')).map_or("", |(_, value)| value.trim())
}

/// Returns the text with an option set, or without the option if the value is empty.
pub fn with_option(conf: &str, key: &str, value: &str) -> String {
    let value = value.trim();
    let mut rest: Vec<String> = options(conf).map(str::to_owned).collect();
    let place = rest.iter().position(|option| key_of(option) == key).unwrap_or(rest.len());
    rest.retain(|option| key_of(option) != key);
    if !value.is_empty() {
        rest.insert(place.min(rest.len()), format!("{key}:{value}"));
    }
    rest.join(",")
}

/// Returns the reason why a text is invalid; empty if it is valid.
pub fn refusal(conf: &str) -> String {
    Settings::parse(conf, TorchVersion::default()).map_or_else(|error| error.to_string(), |_| String::new())
}

pub fn environment(conf: &str, variable: &str) -> String {
    // Brackets and `>` in a list have a meaning in shells.
    let quote = if conf.contains(['[', '>']) { "'" } else { "" };
    format!("export {variable}={quote}{conf}{quote}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_changes_its_own_option_alone() {
        let conf = "max_split_size_mb:128,roundup_power2_divisions:[64:8,256:4,>:2],odd:1";
        assert_eq!(option(conf, "roundup_power2_divisions"), "[64:8,256:4,>:2]");
        assert_eq!(option(conf, "expandable_segments"), "");
        let changed = with_option(conf, "max_split_size_mb", " 64 ");
        assert_eq!(changed, "max_split_size_mb:64,roundup_power2_divisions:[64:8,256:4,>:2],odd:1");
        assert_eq!(with_option(&changed, "roundup_power2_divisions", ""), "max_split_size_mb:64,odd:1");
        assert_eq!(with_option("", "expandable_segments", "True"), "expandable_segments:True");
        assert_eq!(with_option("a:1,b:2,a:3", "a", "4"), "a:4,b:2");
        assert_eq!(option("a:1, a : 2", "a"), "2");
    }

    #[test]
    fn what_a_control_may_say_is_accepted() {
        for Field { key, kind, placeholder, .. } in FIELDS {
            let least = match kind {
                FieldKind::Switch => "True".to_owned(),
                FieldKind::Number { least } => least.to_string(),
                FieldKind::Share => "0.5".to_owned(),
                FieldKind::Text => "4".to_owned(),
            };
            assert_eq!(refusal(&with_option("", key, &least)), "", "{key}");
            if let FieldKind::Number { least } = kind {
                assert!(!refusal(&with_option("", key, &(least - 1).to_string())).is_empty(), "{key}");
                let default: Option<u32> = placeholder.parse().ok();
                assert!(default.is_none_or(|default| default >= least), "{key}");
            }
        }
        assert!(refusal("backend:cudaMallocAsync").contains("not modeled"));
    }

    #[test]
    fn a_shell_takes_the_text_as_it_is() {
        assert_eq!(environment("a:1", "CONF"), "export CONF=a:1");
        assert_eq!(environment("a:[>:2]", "CONF"), "export CONF='a:[>:2]'");
    }
}
