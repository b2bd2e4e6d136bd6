//! Notices when the last page has been closed.
//!
//! Each page holds an event stream. A page that is reloaded, or whose connection broke, comes back within a moment.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, ContentType};
use actix_web::web::{Bytes, Data};
use futures_util::stream;

/// Time without pages and requests after which nobody is there any more.
const ABSENCE: Duration = Duration::from_secs(5);

/// Interval between signs of life in a stream, and between looks at the pages.
///
/// Only a write shows that the browser has closed the connection.
const TICK: Duration = Duration::from_secs(1);

/// Visits that are not over, and the time of the last one.
#[derive(Debug, Clone, Default)]
pub(super) struct Attendance(Arc<Mutex<Visits>>);

#[derive(Debug, Default)]
struct Visits {
    under_way: usize,
    /// True once a page was open.
    has_begun: bool,
    /// Time of the last request, or of the end of the last visit.
    last: Option<Instant>,
}

/// An open page or a download, until it is dropped.
pub(super) struct Visit(Attendance);

impl Attendance {
    pub(super) fn note(&self) {
        self.change(|_| ());
    }

    pub(super) fn visit(&self) -> Visit {
        self.change(|visits| visits.under_way += 1);
        Visit(self.clone())
    }

    fn change(&self, change: impl FnOnce(&mut Visits)) {
        let mut visits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut visits);
        visits.last = Some(Instant::now());
    }

    fn have_all_left(&self, now: Instant) -> bool {
        let visits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_long_ago = visits.last.is_some_and(|last| now.saturating_duration_since(last) >= ABSENCE);
        visits.has_begun && visits.under_way == 0 && is_long_ago
    }

    /// Returns once pages were open and all of them have been closed.
    pub(super) async fn until_all_have_left(&self) {
        while !self.have_all_left(Instant::now()) {
            tokio::time::sleep(TICK).await;
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.change(|visits| visits.under_way -= 1);
    }
}

/// Streams signs of life to a page for as long as it is open.
pub(super) async fn attend(attendance: Data<Attendance>) -> HttpResponse {
    let visit = attendance.visit();
    attendance.change(|visits| visits.has_begun = true);
    let signs = stream::unfold((visit, Duration::ZERO), |(visit, wait)| async move {
        tokio::time::sleep(wait).await;
        Some((Ok::<_, std::io::Error>(Bytes::from_static(b": still here\n\n")), (visit, TICK)))
    });
    HttpResponse::Ok()
        .insert_header(ContentType(mime::TEXT_EVENT_STREAM))
        .insert_header((CACHE_CONTROL, "no-store"))
        .streaming(signs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_there_a_moment_after_the_last_page() {
        let attendance = Attendance::default();
        let later = |seconds| Instant::now() + Duration::from_secs(seconds);
        attendance.note();
        assert!(!attendance.have_all_left(later(60)), "no page was open yet");
        let page = attendance.visit();
        attendance.change(|visits| visits.has_begun = true);
        let download = attendance.visit();
        drop(page);
        assert!(!attendance.have_all_left(later(60)), "a download is under way");
        drop(download);
        assert!(!attendance.have_all_left(later(1)), "a reload takes a moment");
        assert!(attendance.have_all_left(later(6)));
        let _page = attendance.visit();
        assert!(!attendance.have_all_left(later(60)));
    }
}
