//! Maps addresses to pages and back.

/// Page that an address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// List of jobs, and the gallery.
    List,
    /// Form for a new job.
    New(Start),
    /// Page of one job, by its id.
    Job(String),
}

/// Source of a new job's initial config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// A small example.
    Example,
    /// A config of the gallery, by its name.
    Gallery(String),
    /// The config of another job, by its id.
    Job(String),
    /// A config that was dropped on the viewer.
    Brought,
}

impl Route {
    /// Returns the page for a path with parameters, such as `/jobs` and `?new`.
    ///
    /// The site may lie in a folder of its host, so only the part from `jobs` on counts.
    pub(crate) fn of(path: &str, parameter: impl Fn(&str) -> Option<String>) -> Self {
        let mut parts = path.trim_end_matches('/').rsplit('/');
        let last = parts.next().unwrap_or_default();
        if parts.next() == Some("jobs") && !last.is_empty() {
            return Self::Job(last.to_owned());
        }
        match parameter("new").as_deref() {
            None => Self::List,
            Some(_) if parameter("brought").is_some() => Self::New(Start::Brought),
            Some(_) => Self::New(match (parameter("gallery"), parameter("from")) {
                (Some(name), _) => Start::Gallery(name),
                (None, Some(id)) => Start::Job(id),
                (None, None) => Start::Example,
            }),
        }
    }

    /// Returns the page's path below the site's top.
    pub(crate) fn path(&self) -> String {
        match self {
            Self::List => "jobs".to_owned(),
            Self::New(Start::Example) => "jobs?new".to_owned(),
            Self::New(Start::Gallery(name)) => format!("jobs?new&gallery={name}"),
            Self::New(Start::Job(id)) => format!("jobs?new&from={id}"),
            Self::New(Start::Brought) => "jobs?new&brought".to_owned(),
            Self::Job(id) => format!("jobs/{id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: Route) {
        let (path, search) = address.split_once('?').unwrap_or((address, ""));
        let parameter = |name: &str| {
            let pair = |part: &str| {
                part.split_once('=').map_or((part.to_owned(), String::new()), |(a, b)| (a.into(), b.into()))
            };
            search.split('&').map(pair).find(|(key, _)| key == name).map(|(_, value)| value)
        };
        assert_eq!(Route::of(path, parameter), expected, "{address}");
        assert!(
            address.ends_with(&expected.path()) || address.ends_with('/') || address.ends_with("html"),
            "{address}"
        );
    }

    #[test]
    fn addresses_name_pages() {
        check("/jobs", Route::List);
        check("/jobs/", Route::List);
        check("/snapscope/jobs.html", Route::List);
        check("/jobs?new", Route::New(Start::Example));
        check("/jobs?new&gallery=keep-losses", Route::New(Start::Gallery("keep-losses".to_owned())));
        check("/jobs?new&from=0194", Route::New(Start::Job("0194".to_owned())));
        check("/jobs?new&brought", Route::New(Start::Brought));
        check("/folder/jobs/0194ab", Route::Job("0194ab".to_owned()));
    }
}
