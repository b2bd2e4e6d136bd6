//! Reads the settings from the environment, once.
//!
//! A value that cannot be parsed is reported in one sentence, and no device comes up: a run on a card that nobody
//! asked for would be worse than none.

use std::env;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::OnceLock;

use foundation::base::size;
use job::{Card, Cards};

use crate::error::{Error, Result};
use crate::identity::uuid_text;
use crate::state::AddressOrder;

/// CUDA's variable that names the cards that a process sees.
const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";

/// Cards of a machine for which `SNAPSCOPE_VIRTUAL_GPU` is not set.
const DEFAULT_CARDS: &str = "a100-80gb";

/// Content of device memory, as a copy to the host sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    Zero,
    /// Device memory keeps small copies and fills, and is zero elsewhere.
    Shadow,
}

#[derive(Debug)]
pub(crate) struct Config {
    /// All cards of the machine.
    pub(crate) cards: Vec<Card>,
    /// Indices of the cards that CUDA shows, by device ordinal.
    pub(crate) visible: Vec<usize>,
    /// Number of launches and copies after which a recorded event is done; `None` for a host that runs ahead.
    pub(crate) event_lag: Option<u64>,
    /// Memory of a context on each card, in bytes; `None` for what is known of each card.
    pub(crate) context_bytes: Option<u64>,
    /// Order in which fresh addresses are handed out.
    pub(crate) addresses: AddressOrder,
    pub(crate) values: Values,
    /// True if nobody asked for a virtual GPU: the library then stands in for the driver of a real one.
    pub(crate) is_driver: bool,
    /// File in the user's cache folder that keeps what the real cuDNN has said; `None` if there is no such folder.
    pub(crate) cudnn_answers: Option<PathBuf>,
    /// Workspace that cuDNN's convolution engines ask for, in bytes; `None` for what the real cuDNN says.
    pub(crate) cudnn_workspace_bytes: Option<u64>,
}

/// Returns the settings, which are read on the first call.
///
/// # Errors
/// Returns "not initialized" if a variable cannot be parsed; the log names it, once.
pub(crate) fn config() -> Result<&'static Config> {
    static CONFIG: OnceLock<Option<Config>> = OnceLock::new();
    let read = || {
        let config = Config::read(&variable);
        config.map_err(|message| crate::log::line(format_args!("{message}"))).ok()
    };
    CONFIG.get_or_init(read).as_ref().ok_or(Error::NotInitialized)
}

/// Returns the file to which calls of functions that are not modelled are appended, if one is set.
pub(crate) fn unsupported_path() -> Option<PathBuf> {
    env::var_os("SNAPSCOPE_VIRTUAL_GPU_UNSUPPORTED").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Reads an environment variable; an empty one counts as not set, except that it can make no card visible.
#[cfg(not(test))]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty() || name == VISIBLE)
}

/// Gives tests two cards, whatever the environment says.
#[cfg(test)]
fn variable(name: &str) -> Option<String> {
    (name == "SNAPSCOPE_VIRTUAL_GPU").then(|| "a100-80gb,t4-16gb".to_owned())
}

/// Function that looks up a variable.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Config {
    /// Reads the settings.
    ///
    /// # Errors
    /// Returns a sentence that names the variable that cannot be parsed.
    fn read(lookup: Lookup<'_>) -> std::result::Result<Self, String> {
        let wanted = lookup("SNAPSCOPE_VIRTUAL_GPU");
        let cards = Cards::parse(wanted.as_deref().unwrap_or(DEFAULT_CARDS))
            .map_err(|error| format!("SNAPSCOPE_VIRTUAL_GPU: {error}"))?;
        let visible =
            lookup(VISIBLE).map_or_else(|| (0..cards.0.len()).collect(), |text| visible(&text, cards.0.len()));
        Ok(Self {
            cards: cards.0,
            visible,
            is_driver: wanted.is_none(),
            event_lag: number(lookup, "SNAPSCOPE_VIRTUAL_GPU_EVENT_LAG")?,
            context_bytes: bytes(lookup, "SNAPSCOPE_VIRTUAL_GPU_CONTEXT")?,
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
            cudnn_answers: cache(lookup).map(|folder| folder.join("snapscope/cudnn-engines")),
            cudnn_workspace_bytes: bytes(lookup, "SNAPSCOPE_VIRTUAL_GPU_CUDNN_WORKSPACE")?,
        })
    }
}

/// Returns the user's cache folder, if there is one.
fn cache(lookup: Lookup<'_>) -> Option<PathBuf> {
    let set = |name| lookup(name).map(PathBuf::from);
    set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))
}

/// Returns the indices of the cards that a list makes visible, by CUDA's rules.
///
/// An item is an index or the beginning of an identifier that no other card has.
/// The list ends before the first item that is neither, and one that names a card twice shows none.
fn visible(list: &str, cards: usize) -> Vec<usize> {
    let by_identifier = |item: &str| {
        let mut matching = (0..cards).filter(|&index| uuid_text(index).starts_with(item));
        matching.next().filter(|_| item.starts_with("GPU-") && matching.next().is_none())
    };
    let index = |item: &str| item.parse().ok().filter(|&index| index < cards).or_else(|| by_identifier(item));
    let found: Vec<_> = list.split(',').map_while(|item| index(item.trim())).collect();
    let names_one_twice = found.iter().enumerate().any(|(at, card)| found[..at].contains(card));
    if names_one_twice { Vec::new() } else { found }
}

/// Parses a variable that is one of a few words; the default is the first of them.
fn choice<T: Copy>(lookup: Lookup<'_>, name: &str, words: &[(&str, T)]) -> std::result::Result<T, String> {
    let Some(text) = lookup(name) else { return Ok(words[0].1) };
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        format!("{name} is `{text}`: write {}", known.join(" or "))
    })
}

fn number(lookup: Lookup<'_>, name: &str) -> std::result::Result<Option<u64>, String> {
    let Some(text) = lookup(name) else { return Ok(None) };
    u64::from_str(&text).map(Some).map_err(|_| format!("{name} is `{text}`: write a whole number, such as 5"))
}

/// Parses a size: a number of bytes, or a number with a unit.
fn bytes(lookup: Lookup<'_>, name: &str) -> std::result::Result<Option<u64>, String> {
    let Some(text) = lookup(name) else { return Ok(None) };
    let size = text.parse().ok().or_else(|| size::parse(&text));
    size.map(Some).ok_or_else(|| format!("{name} is `{text}`: write a size, such as 512MiB"))
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
        assert_eq!((config.event_lag, config.context_bytes, config.visible), (None, None, vec![0]));
        assert_eq!(config.values, Values::Zero);
    }

    #[test]
    fn several_cards_and_sizes_with_units() {
        let config = read(&[("VIRTUAL_GPU", "2x t4-16gb"), ("CONTEXT", "1.5 GiB"), ("CUDNN_WORKSPACE", "4096")]);
        let config = config.expect("all of it is valid");
        assert_eq!(config.cards.len(), 2);
        assert_eq!((config.context_bytes, config.cudnn_workspace_bytes), (Some(3 << 29), Some(4096)));
    }

    #[test]
    fn answers_are_kept_in_the_cache_folder() {
        let with = |has_own: bool| {
            cache(&|name| (name == "HOME").then(|| "/h".into()).or_else(|| has_own.then(|| "/c".into())))
        };
        assert_eq!((with(false), with(true)), (Some("/h/.cache".into()), Some("/c".into())));
        assert_eq!(read(&[]).expect("the defaults are valid").cudnn_answers, None);
    }

    #[test]
    fn cards_are_hidden_as_cuda_hides_them() {
        let visible = |text| {
            let config = read(&[("VIRTUAL_GPU", "4x t4-16gb"), (VISIBLE, text)]).expect("no list is an error");
            config.visible
        };
        assert_eq!(visible("2,0"), [2, 0]);
        assert_eq!(visible(" 3 , 1 "), [3, 1]);
        assert_eq!(visible("1,7,2"), [1], "the list ends at the first card that is not there");
        assert_eq!(visible("GPU-736e6170-7363-6f70-652d-677075000003,GPU-7"), [3], "`GPU-7` is each of them");
        assert_eq!((visible(""), visible("-1"), visible("1,1"), visible("MIG-1")), (vec![], vec![], vec![], vec![]));
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
        refused("SNAPSCOPE_VIRTUAL_GPU_CONTEXT", "512 pages", "512MiB");
        refused("SNAPSCOPE_VIRTUAL_GPU_ADDRESSES", "sideways", "`descending` or `ascending`");
    }
}
