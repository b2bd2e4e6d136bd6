//! Texts and numbers of the notices about a readable file.

use crate::ask::Notice;
use shared::base::format;

/// Maximum number of notices that are shown without a summary that folds them.
const SHOWN_AT_MOST: usize = 2;

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
pub fn notices_of(notices: &[Notice], device: i64) -> Vec<Notice> {
    notices.iter().filter(|notice| notice.device.is_none_or(|index| index == device)).cloned().collect()
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
        assert!(is_folded(&notices) && !is_folded(&notices[..2]));
    }

    #[test]
    fn a_notice_about_another_device_waits_until_that_is_shown() {
        let about = |device| Notice { device, ..notice("info") };
        let notices = [about(None), about(Some(0)), about(Some(1))];
        assert_eq!(notices_of(&notices, 1), [about(None), about(Some(1))]);
        assert_eq!(notices_of(&notices, -1), [about(None)]);
    }
}
