//! Where an open file came from, and what the page's address asks for.

use std::rc::Rc;

/// Where an open file came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// This machine: nobody else has seen it.
    #[default]
    Local,
    /// This site: the sample, or a recording.
    Site,
    /// A link to a shared copy.
    Link(Rc<LinkFacts>),
}

/// What is known about a shared copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkFacts {
    /// What people call it.
    pub title: String,
    /// When it was made, for people.
    pub created: String,
    /// When it ends, for people; `None` for never.
    pub expires: Option<String>,
    /// What was taken out of it.
    pub cuts: Option<String>,
}

/// What a page's address asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Nothing: files are opened by hand.
    Plain,
    /// The sample.
    Sample,
    /// A shared copy, by its token.
    Link(String),
    /// Recordings, by their jobs.
    Jobs(Vec<String>),
}

impl Address {
    /// What is asked for by a path from the top of the site, jobs, and whether the sample is.
    pub fn of(path: &str, jobs: Vec<String>, has_sample: bool) -> Self {
        let token = path.trim_matches('/').strip_prefix("s/").filter(|token| is_name(token));
        match token {
            Some(token) => Self::Link(token.to_owned()),
            None if jobs.iter().any(|job| is_name(job)) => {
                Self::Jobs(jobs.into_iter().filter(|job| is_name(job)).collect())
            }
            None if has_sample => Self::Sample,
            None => Self::Plain,
        }
    }
}

/// Whether a text can be a part of an address below the interface: anything else would lead elsewhere.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, jobs: &[&str], address: Address) {
        assert_eq!(Address::of(path, jobs.iter().map(|job| (*job).to_owned()).collect(), false), address);
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
        assert_eq!(Address::of("", Vec::new(), true), Address::Sample);
    }
}
