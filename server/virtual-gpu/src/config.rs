//! Settings, read from the environment once.
//!
//! What cannot be understood is an error with a sentence, and no device comes up: a run on a card that nobody asked
//! for would be worse than none.

use std::env;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::OnceLock;

use shared::job::{Card, Cards};

use crate::error::{Error, Result};
use crate::state::AddressOrder;

/// The cards where none are named.
const DEFAULT_CARDS: &str = "a100-80gb";

/// What a context takes outside of the allocator, in bytes, where nothing is said: 512 MiB.
///
/// Real ones take 0.3 to 0.6 GB, by driver, card and the kernels that were loaded.
const DEFAULT_CONTEXT_BYTES: u64 = 512 << 20;

/// What a copy from the device finds there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    /// Zeros.
    Zero,
    /// What small copies left there; zeros elsewhere.
    Shadow,
}

/// The settings of the process.
#[derive(Debug)]
pub(crate) struct Config {
    /// The cards, by ordinal.
    pub(crate) cards: Vec<Card>,
    /// Launches and copies until an event is done.
    pub(crate) event_lag: u64,
    /// What a context takes of each card, in bytes.
    pub(crate) context_bytes: u64,
    /// How fresh addresses go.
    pub(crate) addresses: AddressOrder,
    /// What is read from a device.
    pub(crate) values: Values,
    /// What cuDNN's engines ask for as workspace, in bytes.
    pub(crate) cudnn_workspace_bytes: u64,
}

/// The settings.
///
/// # Errors
/// Not initialized, where a variable cannot be understood; the log says which, once.
pub(crate) fn config() -> Result<&'static Config> {
    static CONFIG: OnceLock<Option<Config>> = OnceLock::new();
    let read = || {
        let config = Config::read(&variable);
        config.map_err(|message| crate::log::line(format_args!("{message}"))).ok()
    };
    CONFIG.get_or_init(read).as_ref().ok_or(Error::NotInitialized)
}

/// The file that messages are appended to.
pub(crate) fn log_path() -> Option<PathBuf> {
    env::var_os("SNAPSCOPE_VIRTUAL_GPU_LOG").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// A variable of the environment; one that is empty is not there.
#[cfg(not(test))]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Tests have two cards, whatever the environment says.
#[cfg(test)]
fn variable(name: &str) -> Option<String> {
    (name == "SNAPSCOPE_VIRTUAL_GPU").then(|| "a100-80gb,t4-16gb".to_owned())
}

/// Looks a variable up.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Config {
    /// Reads the settings, or says what cannot be understood.
    fn read(lookup: Lookup<'_>) -> std::result::Result<Self, String> {
        let cards = lookup("SNAPSCOPE_VIRTUAL_GPU").unwrap_or_else(|| DEFAULT_CARDS.to_owned());
        let cards = Cards::parse(&cards).map_err(|error| format!("SNAPSCOPE_VIRTUAL_GPU: {error}"))?;
        Ok(Self {
            cards: cards.0,
            event_lag: number(lookup, "SNAPSCOPE_VIRTUAL_GPU_EVENT_LAG", 0)?,
            context_bytes: bytes(lookup, "SNAPSCOPE_VIRTUAL_GPU_CONTEXT", DEFAULT_CONTEXT_BYTES)?,
            addresses: choice(
                lookup,
                "SNAPSCOPE_VIRTUAL_GPU_ADDRESSES",
                &[("descending", AddressOrder::Descending), ("ascending", AddressOrder::Ascending)],
            )?,
            values: choice(
                lookup,
                "SNAPSCOPE_VIRTUAL_GPU_VALUES",
                &[("zero", Values::Zero), ("shadow", Values::Shadow)],
            )?,
            cudnn_workspace_bytes: bytes(lookup, "SNAPSCOPE_VIRTUAL_GPU_CUDNN_WORKSPACE", 0)?,
        })
    }
}

/// One of a few words; the first where nothing is said.
fn choice<T: Copy>(lookup: Lookup<'_>, name: &str, words: &[(&str, T)]) -> std::result::Result<T, String> {
    let Some(text) = lookup(name) else { return Ok(words[0].1) };
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        format!("{name} is `{text}`: write {}", known.join(" or "))
    })
}

fn number(lookup: Lookup<'_>, name: &str, default: u64) -> std::result::Result<u64, String> {
    let Some(text) = lookup(name) else { return Ok(default) };
    u64::from_str(&text).map_err(|_| format!("{name} is `{text}`: write a whole number, such as 5"))
}

/// A size: a number of bytes, or one with a binary unit.
fn bytes(lookup: Lookup<'_>, name: &str, default: u64) -> std::result::Result<u64, String> {
    const UNITS: &[(&str, u64)] = &[("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
    let Some(text) = lookup(name) else { return Ok(default) };
    let unit = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?.trim_end(), *factor)));
    let (digits, factor) = unit.unwrap_or((&text, 1));
    let size = u64::from_str(digits).ok().and_then(|number| number.checked_mul(factor));
    size.ok_or_else(|| format!("{name} is `{text}`: write a size, such as 512MiB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> std::result::Result<Config, String> {
        let find = |name: &str| variables.iter().find(|(key, _)| name.ends_with(key)).map(|(_, value)| (*value).into());
        Config::read(&find)
    }

    #[test]
    fn nothing_said_is_one_a100() {
        let config = read(&[]).expect("the defaults are valid");
        assert_eq!(config.cards.len(), 1);
        assert_eq!(config.cards[0].name, "a100-80gb");
        assert_eq!((config.event_lag, config.context_bytes), (0, 512 << 20));
        assert_eq!(config.values, Values::Zero);
    }

    #[test]
    fn several_cards_and_sizes_with_units() {
        let config = read(&[("VIRTUAL_GPU", "2x t4-16gb"), ("CONTEXT", "300 MiB"), ("CUDNN_WORKSPACE", "4096")]);
        let config = config.expect("all of it is valid");
        assert_eq!(config.cards.len(), 2);
        assert_eq!((config.context_bytes, config.cudnn_workspace_bytes), (300 << 20, 4096));
    }

    #[track_caller]
    fn refused(variable: &str, value: &str, words: &str) {
        let message = read(&[(variable, value)]).expect_err("it is not valid");
        assert!(message.contains(variable) && message.contains(words), "{message}");
    }

    #[test]
    fn what_cannot_be_understood_is_named() {
        refused("SNAPSCOPE_VIRTUAL_GPU", "voodoo2", "voodoo2");
        refused("SNAPSCOPE_VIRTUAL_GPU_EVENT_LAG", "soon", "a whole number");
        refused("SNAPSCOPE_VIRTUAL_GPU_CONTEXT", "512MB", "512MiB");
        refused("SNAPSCOPE_VIRTUAL_GPU_ADDRESSES", "sideways", "`descending` or `ascending`");
    }
}
