//! Texts and numbers of the dialog for sharing a copy, and of the texts that remain in it, which people review before.

use crate::ask::CopyOptions;
use crate::state::{CopyStep, SendStep, ServerState, Sharing};
use shared::base::format;
use shared::export::{Change, Remaining, SanitizeReport};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Paths up to the project.
    Paths,
    /// Names found in paths, hosts, addresses and keys.
    Names,
    /// Metadata that users attached to events.
    Metadata,
    Annotations,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutRow {
    pub cut: Cut,
    pub label: &'static str,
    pub is_on: bool,
    /// Effect on this file; empty while it is unknown.
    pub note: String,
    pub examples: Vec<(String, String)>,
}

impl Cut {
    pub fn toggled(self, options: &CopyOptions) -> CopyOptions {
        let mut options = options.clone();
        match self {
            Self::Paths => options.cut_paths ^= true,
            Self::Names => options.remove_names ^= true,
            Self::Metadata => options.drop_metadata ^= true,
            Self::Annotations => options.drop_annotations ^= true,
        }
        options
    }
}

/// Returns the choices, most relevant to privacy first; `annotations` is the number of annotations in the file.
pub fn cut_rows(options: &CopyOptions, preview: Option<&SanitizeReport>, annotations: u64) -> [CutRow; 4] {
    let said = |is_on: bool, text: &dyn Fn(&SanitizeReport) -> String| {
        preview.map(|preview| if is_on { text(preview) } else { "stays as it is".to_owned() }).unwrap_or_default()
    };
    let examples = |is_on: bool, change: fn(&SanitizeReport) -> &Change| {
        preview.filter(|_| is_on).map(|preview| change(preview).examples.clone()).unwrap_or_default()
    };
    let CopyOptions { cut_paths, remove_names, drop_metadata, drop_annotations, .. } = *options;
    let row = |cut,
               is_on,
               label,
               note: &dyn Fn(&SanitizeReport) -> String,
               change: Option<fn(&SanitizeReport) -> &Change>| CutRow {
        cut,
        label,
        is_on,
        note: said(is_on, note),
        examples: change.map(|change| examples(is_on, change)).unwrap_or_default(),
    };
    let paths = |preview: &SanitizeReport| counted(preview.paths.count, "path");
    let texts = |preview: &SanitizeReport| counted(preview.metadata.count, "text");
    let marks = |_: &SanitizeReport| counted(annotations, "annotation");
    [
        row(Cut::Paths, cut_paths, "Path prefixes up to the project folder", &paths, Some(|of| &of.paths)),
        row(Cut::Names, remove_names, "Names, hosts, addresses and keys", &names_note, Some(|of| &of.texts)),
        row(Cut::Metadata, drop_metadata, "Event metadata", &texts, Some(|of| &of.metadata)),
        row(Cut::Annotations, drop_annotations, "Annotations, such as steps", &marks, None),
    ]
}

fn counted(count: u64, noun: &str) -> String {
    if count == 0 { "none in this file".to_owned() } else { format::counted(count, noun) }
}

fn names_note(preview: &SanitizeReport) -> String {
    match preview.names.as_slice() {
        [] => "none found in this file".to_owned(),
        names => names.join(", "),
    }
}

/// Splits a typed text into names, at commas, semicolons and line breaks.
pub fn typed_names(text: &str) -> Vec<String> {
    text.split([',', ';', '\n']).map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

pub fn copy_text(sharing: &Sharing) -> String {
    match (&sharing.copy, sharing.too_large()) {
        (CopyStep::Made { bytes }, None) => format!("{}, compressed", format::bytes(*bytes)),
        (CopyStep::Made { bytes }, Some(most)) => {
            format!(
                "The copy has {}, but this server accepts at most {}. Remove the frames of some packages, or share a \
                 shorter recording.",
                format::bytes(*bytes),
                format::bytes(most)
            )
        }
        (CopyStep::Making(share), _) if *share > 0.0 => format!("Preparing the copy, {:.0} %", share * 100.0),
        (CopyStep::Making(_), _) => "Preparing the copy…".to_owned(),
        (CopyStep::Failed(reason), _) => format!("The copy can't be made: {reason}."),
    }
}

pub fn sent_text(sharing: &Sharing) -> String {
    match &sharing.sending {
        SendStep::Nothing => "Nothing has been uploaded so far".to_owned(),
        SendStep::Sending { sent_bytes, total_bytes } if sent_bytes < total_bytes => {
            format!("Uploading, {} of {}", format::bytes(*sent_bytes), format::bytes(*total_bytes))
        }
        SendStep::Sending { .. } => "Uploaded; the server is checking the copy".to_owned(),
        SendStep::Failed(_) => "No link was created".to_owned(),
        SendStep::Done(_) => "The copy is on the server".to_owned(),
        SendStep::Deleted => "The copy was deleted from the server".to_owned(),
    }
}

/// Says who can open a link, and for one that only this machine can open how to change that.
pub fn audience(address: &str) -> (String, Option<&'static str>) {
    let after = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = after.split('/').next().unwrap_or_default();
    let name = if host.starts_with('[') { host } else { host.split(':').next().unwrap_or_default() };
    let is_own =
        name == "localhost" || name.ends_with(".localhost") || name.starts_with("127.") || name.starts_with("[::1]");
    match is_own {
        true => (
            format!("Only this machine can open it, because the server is at {host}. For others, serve with a token: "),
            Some("SNAPSCOPE_TOKEN=… snapscope serve --listen 0.0.0.0:8080"),
        ),
        false => (format!("Whoever has the link and reaches {host} can open it."), None),
    }
}

pub fn end_text(days: Option<u32>) -> String {
    match days {
        Some(days) => format::counted(u64::from(days), "day"),
        None => "Never".to_owned(),
    }
}

pub fn ends(sharing: &Sharing) -> Vec<Option<u32>> {
    let ServerState::There(limits) = &sharing.server else { return Vec::new() };
    let never = limits.share_for_ever.then_some(None);
    limits.share_days.iter().copied().map(Some).chain(never).collect()
}

/// Describes the texts typed in the open view, which a link contains; `None` if nothing was typed.
pub fn typed_text(typed: &[&str]) -> Option<String> {
    let quoted: Vec<String> = typed.iter().map(|text| format!("“{text}”")).collect();
    (!quoted.is_empty()).then(|| format!("The link also contains your search text: {}.", quoted.join(" and ")))
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundTexts {
    rows: Vec<u32>,
    all: u64,
}

impl FoundTexts {
    /// Searches for the texts that contain all words of `search`, ignoring case.
    ///
    /// A word may also be part of the text's kind. Without a word all texts are found.
    pub fn new(texts: &[Remaining], search: &str) -> Self {
        let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
        let is_found = |Remaining { kind, text }: &Remaining| {
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word) || kind.name().contains(word.as_str()))
        };
        let found = (0..).zip(texts).filter(|(_, text)| words.is_empty() || is_found(text));
        Self { rows: found.map(|(position, _)| position).collect(), all: texts.len() as u64 }
    }

    pub fn count(&self) -> u32 {
        self.rows.len() as u32
    }

    /// Returns the kind and the text of a row; `None` after the last one.
    pub fn row<'a>(&self, texts: &'a [Remaining], row: u32) -> Option<(&'static str, &'a str)> {
        let Remaining { kind, text } = texts.get(*self.rows.get(row as usize)? as usize)?;
        Some((kind.name(), text))
    }

    /// Formats the number of texts found, and of all texts if that differs.
    pub fn count_text(&self) -> String {
        match self.rows.len() as u64 {
            found if found == self.all => format::counted(self.all, "text"),
            found => format!("{} of {}", format::count(found), format::counted(self.all, "text")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::api::ServerLimits;
    use shared::export::TextKind;

    fn preview() -> SanitizeReport {
        SanitizeReport {
            paths: Change { count: 2, examples: vec![("/home/ada/x.py".into(), "x.py".into())] },
            names: vec!["ada".into(), "gpu-17".into()],
            ..SanitizeReport::default()
        }
    }

    #[test]
    fn a_link_says_who_can_open_it() {
        for own in ["http://127.0.0.1:8080/s/x", "http://localhost/s/x", "http://[::1]:80/s/x"] {
            assert!(audience(own).1.is_some(), "{own}");
        }
        let text = "Whoever has the link and reaches gpu.example.org can open it.";
        assert_eq!(audience("https://gpu.example.org/s/x"), (text.to_owned(), None));
    }

    #[test]
    fn each_choice_says_what_it_does_to_this_file() {
        let notes = |options: &CopyOptions| cut_rows(options, Some(&preview()), 28).map(|row| row.note);
        let default = CopyOptions::default();
        assert_eq!(notes(&default), ["2 paths", "ada, gpu-17", "none in this file", "stays as it is"]);
        let other = Cut::Annotations.toggled(&Cut::Paths.toggled(&default));
        assert_eq!(notes(&other), ["stays as it is", "ada, gpu-17", "none in this file", "28 annotations"]);
        assert_eq!(cut_rows(&default, Some(&preview()), 0)[0].examples.len(), 1);
        assert_eq!(cut_rows(&other, Some(&preview()), 0)[0].examples.len(), 0);
        assert_eq!(cut_rows(&default, None, 0).map(|row| row.note), [""; 4]);
    }

    #[test]
    fn names_are_divided_by_commas() {
        assert_eq!(typed_names(" ada, bob;\n,gpu 17 "), ["ada", "bob", "gpu 17"]);
        assert_eq!(typed_names(" "), [""; 0]);
    }

    #[test]
    fn what_has_left_the_machine_is_said_plainly() {
        let at = |sending| sent_text(&Sharing { sending, ..Sharing::default() });
        assert_eq!(at(SendStep::Nothing), "Nothing has been uploaded so far");
        assert_eq!(at(SendStep::Sending { sent_bytes: 512, total_bytes: 1024 }), "Uploading, 512 B of 1.00 KiB");
        let checking = SendStep::Sending { sent_bytes: 9, total_bytes: 9 };
        assert_eq!(at(checking), "Uploaded; the server is checking the copy");
        assert_eq!(typed_text(&[]), None);
        assert_eq!(typed_text(&["adam"]).as_deref(), Some("The link also contains your search text: “adam”."));
        assert_eq!(typed_text(&["a", "b"]).as_deref(), Some("The link also contains your search text: “a” and “b”."));
    }

    #[test]
    fn the_copy_says_its_size() {
        let at = |copy| copy_text(&Sharing { copy, ..Sharing::default() });
        assert_eq!(at(CopyStep::Made { bytes: 2048 }), "2.00 KiB, compressed");
        assert_eq!(at(CopyStep::Making(0.5)), "Preparing the copy, 50 %");
        let limits = ServerLimits {
            upload_bytes: 1024,
            share_days: vec![1, 7],
            share_for_ever: true,
            needs_token: false,
            kinds: Vec::new(),
            is_recorder_being_built: false,
            problems: std::collections::BTreeMap::new(),
        };
        let server = ServerState::There(limits);
        let sharing = Sharing { copy: CopyStep::Made { bytes: 2048 }, server, ..Sharing::default() };
        assert!(copy_text(&sharing).starts_with("The copy has 2.00 KiB, but this server accepts at most 1.00 KiB."));
        assert_eq!(ends(&sharing).into_iter().map(end_text).collect::<Vec<_>>(), ["1 day", "7 days", "Never"]);
    }

    #[test]
    fn texts_are_found_by_words_and_kinds() {
        use TextKind::{Annotation, ProjectFile};
        let all = [(Annotation, "step 1"), (Annotation, "Warm up"), (ProjectFile, "train.py")]
            .map(|(kind, text)| Remaining { kind, text: text.to_owned() });
        let check = |search: &str, texts: &[&str], count: &str| {
            let found = FoundTexts::new(&all, search);
            let rows: Vec<&str> = (0..found.count()).map(|row| found.row(&all, row).unwrap().1).collect();
            assert_eq!((rows.as_slice(), found.count_text().as_str()), (texts, count));
            assert_eq!(found.row(&all, found.count()), None);
        };
        check("", &["step 1", "Warm up", "train.py"], "3 texts");
        check("WARM", &["Warm up"], "1 of 3 texts");
        check("project t", &["train.py"], "1 of 3 texts");
        check("ada", &[], "0 of 3 texts");
    }
}
