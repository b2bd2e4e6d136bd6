//! Texts and numbers of the notices about a readable file.

use crate::ask::Notice;
use shared::base::format;

/// Maximum number of notices that are shown without a summary that folds them.
const SHOWN_AT_MOST: usize = 1;

/// Code of the notice about a request that failed.
const OUT_OF_MEMORY: &str = "out-of-memory";

/// Returns the word that a screen reader says before a notice.
pub fn severity_word(notice: &Notice) -> &'static str {
    match notice.severity.as_str() {
        "error" => "Error",
        "warning" => "Warning",
        _ => "Note",
    }
}

/// Returns true if the notices are folded at first.
pub fn is_folded(notices: &[Notice]) -> bool {
    notices.len() > SHOWN_AT_MOST
}

/// Returns the notices about a device and those about the whole file.
///
/// That memory ran out is not among them: the headline, the figures and the timeline of the device say so.
pub fn notices_of(notices: &[Notice], device: i64) -> Vec<Notice> {
    let is_here = |notice: &&Notice| notice.device.is_none_or(|index| index == device);
    notices.iter().filter(|notice| is_here(notice) && notice.code != OUT_OF_MEMORY).cloned().collect()
}

/// Summarizes the notices in one line: `1 error, 2 warnings, 3 notes`.
pub fn summary(notices: &[Notice]) -> String {
    let counted = |severity: &str, noun: &str| {
        let count = notices.iter().filter(|notice| notice.severity == severity).count() as u64;
        (count > 0).then(|| format::counted(count, noun))
    };
    let parts = [counted("error", "error"), counted("warning", "warning"), counted("info", "note")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(severity: &str) -> Notice {
        Notice { severity: severity.into(), ..Notice::default() }
    }

    #[test]
    fn many_notices_have_one_line() {
        let notices = [notice("warning"), notice("info"), notice("warning")];
        assert_eq!(summary(&notices), "2 warnings, 1 note");
        assert!(is_folded(&notices) && !is_folded(&notices[..1]));
    }

    #[test]
    fn a_notice_about_another_device_waits_until_that_is_shown() {
        let about = |device| Notice { device, ..notice("info") };
        let notices = [about(None), about(Some(0)), about(Some(1))];
        assert_eq!(notices_of(&notices, 1), [about(None), about(Some(1))]);
        assert_eq!(notices_of(&notices, -1), [about(None)]);
        let failed = Notice { code: OUT_OF_MEMORY.into(), ..about(Some(1)) };
        assert_eq!(notices_of(&[failed], 1), [], "the headline says it");
    }
}
