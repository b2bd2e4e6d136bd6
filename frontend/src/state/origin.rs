//! Origins of files, what the page's address names, and the view with which a file is opened.

use super::card::ThisCard;
use super::view_state::ViewState;
use std::rc::Rc;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// This machine; nobody else has seen the file.
    #[default]
    Local,
    /// This site: the sample, a recording, or a file that `snapscope open` serves.
    Site,
    /// Link to a shared copy.
    Link(Rc<LinkFacts>),
}

/// Facts about a shared copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkFacts {
    pub title: String,
    /// Day of creation, formatted for display.
    pub created: String,
    /// Day of expiry, formatted for display; `None` for never.
    pub expires: Option<String>,
    /// Description of what was removed from the copy.
    pub cuts: Option<String>,
}

/// Snapshot that `?sample` opens.
const SAMPLE: &str = "sample.pickle.gz";

/// Content that the page's address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Nothing; files are opened by hand.
    Plain,
    /// Stored snapshots by their paths below the site's top: the sample, or recordings of the gallery.
    Stored(Vec<String>),
    /// A shared copy, by its token.
    Link(String),
    /// Recordings, by the ids of their jobs.
    Jobs(Vec<String>),
    /// Files of the command `snapscope open`.
    Files,
}

impl Address {
    /// Parses an address from its path below the site's top and the values of its parameters by their keys; `has_files`
    /// is true if the page was sent by `snapscope open`.
    pub fn of(path: &str, values: impl Fn(&str) -> Vec<String>, has_files: bool) -> Self {
        let names = |key: &str| values(key).into_iter().filter(|name| is_name(name)).collect::<Vec<_>>();
        let (jobs, gallery) = (names("job"), names("gallery"));
        let token = path.trim_matches('/').strip_prefix("s/").filter(|token| is_name(token));
        match token {
            Some(token) => Self::Link(token.to_owned()),
            None if !jobs.is_empty() => Self::Jobs(jobs),
            None if !gallery.is_empty() => {
                Self::Stored(gallery.iter().map(|name| format!("gallery/{name}.pickle.gz")).collect())
            }
            None if !values("sample").is_empty() => Self::Stored(vec![SAMPLE.to_owned()]),
            None if has_files => Self::Files,
            None => Self::Plain,
        }
    }
}

/// Returns true if a text can be a segment of a path of this site; any other text could lead elsewhere.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// Initial view of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Start {
    /// View to show; `None` for the whole of the device that the file begins with.
    pub view: Option<ViewState>,
    /// Reason why it is not the view that was asked for.
    pub notice: Option<Rc<str>>,
    /// Card that it was recorded on, if known; a card in the view takes precedence.
    pub card: Option<ThisCard>,
}

impl Start {
    /// Parses a view, with a notice if the text is invalid; an empty text names no view.
    pub fn of_text(text: &str) -> Self {
        if text.is_empty() {
            return Self::default();
        }
        match ViewState::from_text(text) {
            Ok(view) => Self { view: Some(view), ..Self::default() },
            Err(error) => Self { notice: Some(error.message(false).into()), ..Self::default() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, search: &str, address: Address) {
        let pairs = || search.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let values = |key: &str| pairs().filter(|pair| pair.0 == key).map(|pair| pair.1.to_owned()).collect();
        assert_eq!(Address::of(path, values, search.contains("files")), address);
    }

    #[test]
    fn an_address_asks_for_a_link_or_snapshots() {
        let stored = |paths: &[&str]| Address::Stored(paths.iter().map(|path| (*path).to_owned()).collect());
        check("s/abc-_1", "", Address::Link("abc-_1".into()));
        check("/s/abc/", "job=a", Address::Link("abc".into()));
        check("", "job=a&job=../limits&job=b&job=", Address::Jobs(vec!["a".into(), "b".into()]));
        check("", "job=..", Address::Plain);
        check("s/", "", Address::Plain);
        check("s/a/b", "", Address::Plain);
        check("index.html", "", Address::Plain);
        let pair = stored(&["gallery/a_bad.pickle.gz", "gallery/a_good.pickle.gz"]);
        check("", "gallery=a_bad&gallery=../x&gallery=a_good", pair);
        check("", "sample&tour&files", stored(&["sample.pickle.gz"]));
        check("", "files", Address::Files);
    }
}
