//! The allocator's settings as recorded in the snapshot.

use std::collections::BTreeMap;
use std::fmt;

/// Value of an allocator setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    Bool(bool),
    /// Integer, -1 for "unlimited" where PyTorch uses that.
    Int(i64),
    Float(f64),
    /// String, such as `PYTORCH_CUDA_ALLOC_CONF`.
    Text(String),
    /// Table, such as `roundup_power2_divisions`.
    Table(Vec<(String, i64)>),
}

impl Setting {
    /// Builds a table in the order of its keys: numeric keys first and by value, then the others.
    pub fn table(rows: BTreeMap<String, i64>) -> Self {
        let mut rows: Vec<_> = rows.into_iter().collect();
        // The keys of roundup_power2_divisions are numbers.
        rows.sort_by_key(|(key, _)| key.parse::<u64>().unwrap_or(u64::MAX));
        Self::Table(rows)
    }
}

/// Formats the value as Python prints it.
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

/// Contents of `allocator_settings` (torch 2.3 on), ordered by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub entries: Vec<(String, Setting)>,
}

impl Settings {
    /// Returns the setting of that name.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.entries.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}
