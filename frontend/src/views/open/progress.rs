//! Texts and numbers of the progress of reading a file.

use crate::state::Loading;
use shared::base::format;

#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Finished share; `None` while the length is unknown.
    pub share: Option<f64>,
    /// Bytes, and speed and remaining time once known.
    pub text: String,
    /// Text for a screen reader, in whole tens of percent so that it is not read out all the time.
    pub spoken: String,
}

/// Time before which a speed would be a guess, in milliseconds.
const SHORTEST_MS: f64 = 250.0;

/// Returns the progress of a file.
pub fn progress(loading: &Loading) -> Progress {
    let Loading { seen_bytes, total_bytes, is_waiting, began_ms, now_ms, .. } = *loading;
    if is_waiting {
        let text = "Waiting for another file to be read".to_owned();
        return Progress { share: Some(0.0), spoken: text.clone(), text };
    }
    let share = (total_bytes > 0).then(|| (seen_bytes as f64 / total_bytes as f64).min(1.0));
    let seen = format::bytes(seen_bytes);
    let mut text = match total_bytes {
        0 if seen_bytes == 0 => "Loading the decoder".to_owned(),
        0 => seen,
        _ if seen_bytes >= total_bytes && !loading.is_survey => format!("{seen} read, processing allocations"),
        _ => format!("{seen} of {}", format::bytes(total_bytes)),
    };
    let elapsed_ms = now_ms - began_ms;
    if elapsed_ms >= SHORTEST_MS && seen_bytes > 0 {
        let per_second = seen_bytes as f64 / elapsed_ms * 1000.0;
        text.push_str(&format!(", {}/s", format::bytes(per_second as u64)));
        let left_s = total_bytes.saturating_sub(seen_bytes) as f64 / per_second;
        if left_s >= 1.0 {
            text.push_str(&format!(", {left_s:.0} s left"));
        }
    }
    let spoken = match share {
        Some(share) => format!("{} % read", (share * 10.0).floor() * 10.0),
        None => "Reading".to_owned(),
    };
    Progress { share, text, spoken }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seen_bytes: u64, total_bytes: u64, elapsed_ms: f64, text: &str) {
        let loading =
            Loading { seen_bytes, total_bytes, began_ms: 100.0, now_ms: 100.0 + elapsed_ms, ..Loading::default() };
        assert_eq!(progress(&loading).text, text);
    }

    #[test]
    fn progress_says_bytes_and_speed() {
        check(0, 0, 0.0, "Loading the decoder");
        check(1 << 20, 0, 0.0, "1.00 MiB");
        check(1 << 20, 4 << 20, 100.0, "1.00 MiB of 4.00 MiB");
        check(1 << 20, 4 << 20, 500.0, "1.00 MiB of 4.00 MiB, 2.00 MiB/s, 2 s left");
        check(4 << 20, 4 << 20, 1000.0, "4.00 MiB read, processing allocations, 4.00 MiB/s");
    }

    #[test]
    fn a_file_that_waits_says_for_what() {
        let loading = Loading { is_waiting: true, ..Loading::default() };
        assert_eq!(progress(&loading).text, "Waiting for another file to be read");
    }

    #[test]
    fn a_screen_reader_hears_tens() {
        let loading = Loading { seen_bytes: 57, total_bytes: 100, ..Loading::default() };
        assert_eq!(progress(&loading).spoken, "50 % read");
    }
}
