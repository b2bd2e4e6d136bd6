//! Origins of open files, and what the page's address names.

use std::rc::Rc;

/// Origin of an open file.
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

/// Content that the page's address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Nothing; files are opened by hand.
    Plain,
    Sample,
    /// A shared copy, by its token.
    Link(String),
    /// Recordings, by the ids of their jobs.
    Jobs(Vec<String>),
    /// Files of the command `snapscope open`.
    Files,
}

impl Address {
    /// Parses an address from its path below the site's top, its job ids, and whether it names the sample; `has_files`
    /// is true if the page was sent by `snapscope open`.
    pub fn of(path: &str, jobs: Vec<String>, has_sample: bool, has_files: bool) -> Self {
        let token = path.trim_matches('/').strip_prefix("s/").filter(|token| is_name(token));
        match token {
            Some(token) => Self::Link(token.to_owned()),
            None if jobs.iter().any(|job| is_name(job)) => {
                Self::Jobs(jobs.into_iter().filter(|job| is_name(job)).collect())
            }
            None if has_sample => Self::Sample,
            None if has_files => Self::Files,
            None => Self::Plain,
        }
    }
}

/// Returns true if a text can be a path segment of the HTTP API; any other text could lead elsewhere.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, jobs: &[&str], address: Address) {
        assert_eq!(Address::of(path, jobs.iter().map(|job| (*job).to_owned()).collect(), false, false), address);
    }

    #[test]
    fn an_address_asks_for_a_link_or_jobs() {
        check("s/abc-_1", &[], Address::Link("abc-_1".into()));
        check("/s/abc/", &["a"], Address::Link("abc".into()));
        check("", &["a", "../limits", "b", ""], Address::Jobs(vec!["a".into(), "b".into()]));
        check("", &[".."], Address::Plain);
        check("s/", &[], Address::Plain);
        check("s/a/b", &[], Address::Plain);
        check("index.html", &[], Address::Plain);
        assert_eq!(Address::of("", Vec::new(), true, true), Address::Sample);
        assert_eq!(Address::of("", Vec::new(), false, true), Address::Files);
    }
}
