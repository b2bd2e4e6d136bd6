//! Steps of sharing a file (options, copy, upload, link), and the text of the link.

use super::links::Link;
use super::view_state::ViewState;
use crate::ask::CopyOptions;
use shared::api::ServerLimits;
use shared::export::SanitizeReport;
use std::rc::Rc;

#[derive(Clone, Debug, PartialEq)]
pub struct Sharing {
    /// Options for what is removed.
    pub options: CopyOptions,
    pub title: String,
    /// Days until the link expires; `None` for never.
    pub days: Option<u32>,
    pub server: ServerState,
    /// Effect of the options on this file.
    pub preview: Option<Rc<SanitizeReport>>,
    pub copy: CopyStep,
    pub sending: SendStep,
}

/// Availability of a server to share on.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerState {
    Asking,
    /// The server does not answer.
    Away,
    /// The server is available, with these limits.
    There(ServerLimits),
}

#[derive(Clone, Debug, PartialEq)]
pub enum CopyStep {
    /// The copy is being made; holds the completed fraction.
    Making(f64),
    /// The copy is made; holds its compressed size.
    Made { bytes: u64 },
    /// The copy can't be made; holds the reason.
    Failed(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum SendStep {
    /// Nothing has left this machine.
    Nothing,
    Sending {
        sent_bytes: u64,
        total_bytes: u64,
    },
    Failed(SendFailure),
    /// The upload is complete; holds its link.
    Done(Link),
    Deleted,
}

/// Reason why an upload failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendFailure {
    /// Sentence that says what happened.
    pub message: String,
    /// Sentence that says what to do.
    pub hint: String,
    /// True if the server's token is missing or wrong.
    pub needs_token: bool,
}

#[derive(Clone, Debug)]
pub enum SharingAction {
    /// The server answered with its limits, or did not answer.
    Hear(Option<ServerLimits>),
    Choose(CopyOptions),
    Name(String),
    /// Another expiry was chosen, in days; `None` for never.
    End(Option<u32>),
    Preview(Rc<SanitizeReport>),
    Copy(CopyStep),
    Send(SendStep),
}

/// Default number of days until a link expires.
const USUAL_DAYS: u32 = 7;

impl Default for Sharing {
    fn default() -> Self {
        Self {
            options: CopyOptions::default(),
            title: String::new(),
            days: Some(USUAL_DAYS),
            server: ServerState::Asking,
            preview: None,
            copy: CopyStep::Making(0.0),
            sending: SendStep::Nothing,
        }
    }
}

impl Sharing {
    pub fn after(&self, action: SharingAction) -> Self {
        let mut sharing = self.clone();
        match action {
            SharingAction::Hear(None) => sharing.server = ServerState::Away,
            SharingAction::Hear(Some(limits)) => {
                sharing.days = first_end(&limits);
                sharing.server = ServerState::There(limits);
            }
            SharingAction::Choose(options) => {
                if options != sharing.options {
                    sharing.options = options;
                    sharing.copy = CopyStep::Making(0.0);
                    sharing.sending = SendStep::Nothing;
                }
            }
            SharingAction::Name(title) => sharing.title = title,
            SharingAction::End(days) => sharing.days = days,
            SharingAction::Preview(preview) => sharing.preview = Some(preview),
            SharingAction::Copy(step) => sharing.copy = step,
            SharingAction::Send(step) => sharing.sending = step,
        }
        sharing
    }

    /// Returns the compressed size of the copy, once it is made.
    pub fn copy_bytes(&self) -> Option<u64> {
        match self.copy {
            CopyStep::Made { bytes } => Some(bytes),
            CopyStep::Making(_) | CopyStep::Failed(_) => None,
        }
    }

    /// Returns the server's size limit in bytes if the copy exceeds it.
    pub fn too_large(&self) -> Option<u64> {
        let ServerState::There(limits) = &self.server else { return None };
        self.copy_bytes().filter(|bytes| *bytes > limits.upload_bytes).map(|_| limits.upload_bytes)
    }

    /// Returns true if there is a copy that the server accepts and no upload is running.
    pub fn can_send(&self) -> bool {
        let is_idle = matches!(self.sending, SendStep::Nothing | SendStep::Failed(_) | SendStep::Deleted);
        let is_there = matches!(self.server, ServerState::There(_));
        is_there && is_idle && self.copy_bytes().is_some() && self.too_large().is_none()
    }
}

/// Returns the offered number of days that is nearest to the default.
fn first_end(limits: &ServerLimits) -> Option<u32> {
    let nearest = limits.share_days.iter().copied().min_by_key(|days| days.abs_diff(USUAL_DAYS));
    // A server that offers no number of days may offer links that never expire.
    nearest.or_else(|| (!limits.share_for_ever).then_some(USUAL_DAYS))
}

/// Field after those of the view, whose reader ignores unknown fields.
const CUT: &str = "cut=";

/// Kinds of content that are removed from copies, with their words in the text and for display.
const CUTS: [(&str, &str); 5] = [
    ("paths", "paths shortened to the project"),
    ("names", "names of people and machines"),
    ("metadata", "metadata"),
    ("annotations", "annotations"),
    ("frames", "frames of some packages"),
];

/// Writes the text of a link: a view, and what the options remove from the copy.
pub fn shared_view_text(view: &ViewState, options: &CopyOptions) -> String {
    let is_cut = [
        options.cut_paths,
        options.remove_names,
        options.drop_metadata,
        options.drop_annotations,
        !options.dropped_packages.is_empty(),
    ];
    let words: Vec<&str> = CUTS.iter().zip(is_cut).filter(|(_, is_cut)| *is_cut).map(|((word, _), _)| *word).collect();
    format!("{};{CUT}{}", view.to_text(), words.join("+"))
}

/// Describes what was removed from a link's copy; `None` if the text does not tell.
pub fn cuts_text(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(';').find_map(|part| part.strip_prefix(CUT))?.split('+').collect();
    let said: Vec<&str> = CUTS.iter().filter(|(word, _)| words.contains(word)).map(|(_, text)| *text).collect();
    let (cut, removed) = match said.split_first() {
        Some((&first, rest)) if first == CUTS[0].1 => (Some(first.to_owned()), rest),
        _ => (None, &said[..]),
    };
    let removed = (!removed.is_empty()).then(|| format!("{} removed", removed.join(", ")));
    match [cut, removed].into_iter().flatten().collect::<Vec<_>>().join("; ") {
        text if text.is_empty() => Some("nothing was removed".to_owned()),
        text => Some(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(upload_bytes: u64, share_days: &[u32]) -> ServerLimits {
        ServerLimits {
            upload_bytes,
            share_days: share_days.to_vec(),
            share_for_ever: true,
            needs_token: false,
            kinds: Vec::new(),
            is_recorder_being_built: false,
            problems: std::collections::BTreeMap::new(),
        }
    }

    fn after(actions: impl IntoIterator<Item = SharingAction>) -> Sharing {
        actions.into_iter().fold(Sharing::default(), |sharing, action| sharing.after(action))
    }

    #[test]
    fn only_a_made_copy_that_fits_can_be_sent() {
        let hear = SharingAction::Hear(Some(limits(100, &[1, 7, 30])));
        let made = |bytes| SharingAction::Copy(CopyStep::Made { bytes });
        assert!(!after([hear.clone()]).can_send());
        assert!(!after([made(50)]).can_send());
        assert!(after([hear.clone(), made(100)]).can_send());
        let large = after([hear.clone(), made(101)]);
        assert_eq!((large.can_send(), large.too_large()), (false, Some(100)));
        let sending = SharingAction::Send(SendStep::Sending { sent_bytes: 1, total_bytes: 50 });
        assert!(!after([hear.clone(), made(50), sending]).can_send());
        let failed = SharingAction::Send(SendStep::Failed(SendFailure::default()));
        assert!(after([hear, made(50), failed]).can_send());
    }

    #[test]
    fn other_options_want_another_copy() {
        let sharing = after([SharingAction::Copy(CopyStep::Made { bytes: 5 })]);
        assert_eq!(sharing.after(SharingAction::Choose(CopyOptions::default())), sharing);
        let other = CopyOptions { drop_annotations: true, ..CopyOptions::default() };
        assert_eq!(sharing.after(SharingAction::Choose(other)).copy, CopyStep::Making(0.0));
    }

    #[test]
    fn the_end_is_one_that_the_server_offers() {
        let days = |offered: &[u32]| after([SharingAction::Hear(Some(limits(1, offered)))]).days;
        assert_eq!([days(&[1, 7, 30]), days(&[1]), days(&[])], [Some(7), Some(1), None]);
    }

    #[track_caller]
    fn check(options: &CopyOptions, said: &str) {
        let view = ViewState { device: 3, ..ViewState::default() };
        let text = shared_view_text(&view, options);
        assert_eq!(ViewState::from_text(&text), Ok(view));
        assert_eq!(cuts_text(&text).as_deref(), Some(said));
    }

    #[test]
    fn a_link_says_what_was_taken_out() {
        let default = CopyOptions::default();
        check(&default, "paths shortened to the project; names of people and machines, metadata removed");
        check(&CopyOptions { cut_paths: false, ..default.clone() }, "names of people and machines, metadata removed");
        let none = CopyOptions { cut_paths: false, remove_names: false, drop_metadata: false, ..default };
        check(&none, "nothing was removed");
        check(&CopyOptions { dropped_packages: vec!["torch".into()], ..none }, "frames of some packages removed");
        assert_eq!((cuts_text("v1;device=0"), cuts_text("")), (None, None), "another text says nothing");
    }
}
