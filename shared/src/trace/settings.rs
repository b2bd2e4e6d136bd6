//! The allocator's settings as the snapshot records them.

use std::collections::BTreeMap;
use std::fmt;

/// The value of one allocator setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A switch.
    Bool(bool),
    /// A whole number, -1 for "unlimited" where PyTorch says so.
    Int(i64),
    /// A fraction.
    Float(f64),
    /// A text, such as `PYTORCH_CUDA_ALLOC_CONF`.
    Text(String),
    /// A table, such as `roundup_power2_divisions`.
    Table(Vec<(String, i64)>),
}

impl Setting {
    /// A table in the order of its keys, those that are numbers first and by what they are.
    pub fn table(rows: BTreeMap<String, i64>) -> Self {
        let mut rows: Vec<_> = rows.into_iter().collect();
        // The keys of roundup_power2_divisions are numbers.
        rows.sort_by_key(|(key, _)| key.parse::<u64>().unwrap_or(u64::MAX));
        Self::Table(rows)
    }
}

/// As Python prints it.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(number) => number.fmt(f),
            Self::Float(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Table(rows) => {
                let rows: Vec<String> = rows.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                f.write_str(&rows.join(", "))
            }
        }
    }
}

/// `allocator_settings` (torch 2.3 on), in the order of their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Names and values.
    pub entries: Vec<(String, Setting)>,
}

impl Settings {
    /// The setting of that name.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.entries.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}
