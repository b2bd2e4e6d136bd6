//! Describes sites in words, and searches them.

use frontend::ask::SiteText;
use shared::analysis::{Site, TextFilter, place};
use shared::draw::flame::site_name;
use shared::trace::{Frame, Trace};

/// Describes a site; the description of a site without a frame is empty.
pub(in crate::engine) fn text(trace: &Trace, site: Site, by_line: bool) -> SiteText {
    let Site::Frame(id) = site else { return SiteText::default() };
    let frame = trace.frames.get(id);
    SiteText {
        key: Some(id.index() as u32),
        name: name(trace, frame),
        filename: trace.strings.get(frame.filename).to_owned(),
        line: if by_line { frame.line } else { 0 },
        is_match: false,
    }
}

/// Returns the function, or the operation behind a C++ symbol of PyTorch.
fn name(trace: &Trace, frame: &Frame) -> String {
    site_name(trace.strings.get(frame.name), trace.strings.get(frame.filename))
}

/// Search text, matched once against each frame of the trace.
///
/// True for each frame that contains the text; `None` without a search.
pub(super) struct Search(Option<Vec<bool>>);

impl Search {
    /// Searches names and places for a text, which is case-sensitive only if it contains a capital letter.
    pub(super) fn new(trace: &Trace, text: &str) -> Self {
        let filter = TextFilter::plain(text);
        let has_text = |frame: &Frame| {
            let (name, filename) = (name(trace, frame), trace.strings.get(frame.filename));
            filter.is_in(&place(&name, filename, frame.line)) || filter.is_in(filename)
        };
        Self((!text.is_empty()).then(|| trace.frames.iter().map(has_text).collect()))
    }

    /// Returns true if there is a text to search for.
    pub(super) fn is_given(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn finds(&self, site: Site) -> bool {
        match (site, &self.0) {
            (Site::Frame(frame), Some(frames)) => frames[frame.index()],
            _ => false,
        }
    }
}
