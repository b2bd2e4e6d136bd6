//! The allocator's settings as the snapshot records them.

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

/// `allocator_settings` (torch 2.3 on), in the order of the file.
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
