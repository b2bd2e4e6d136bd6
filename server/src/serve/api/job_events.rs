//! `jobs/{id}/events`: what happens to a job, as it happens.

use std::time::{Duration, Instant};

use actix_web::http::header::{CACHE_CONTROL, ContentType};
use actix_web::web::{Bytes, Data, Path};
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse};
use futures_util::stream::{self, Stream};
use shared::api::{JobEvent, JobState};

use super::jobs::find;
use crate::database::{Database, Event};
use crate::serve::error::{ApiError, ErrorCode};
use crate::serve::guard::Client;
use crate::serve::state::State;
use crate::serve::streams::Seat;

/// How often a stream of events looks for new ones.
const LOOK: Duration = Duration::from_millis(300);

/// How often a silent stream says that it is still there: proxies end connections that say nothing.
const KEEP_ALIVE_LOOKS: u32 = 50;

/// How long a stream lasts; a browser goes on by itself where it ended.
const LONGEST: Duration = Duration::from_secs(3600);

/// When to ask again where too many watch.
const RETRY_SECONDS: u64 = 10;

/// Events that are sent at once.
const MOST_EVENTS: i64 = 500;

/// What happens to a job, as server-sent events until it is over.
///
/// The `data` of each is a `JobEvent`, its `id` counts from 1; `Last-Event-ID` goes on after that one.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}/events", operation_id = "watch_job", tag = "jobs",
    params(
        ("id" = String, Path, description = "The job's `id`"),
        ("Last-Event-ID" = Option<i64>, Header, description = "The `id` of the last event that was seen")
    ),
    responses(
        (status = 200, description = "A stream", content_type = "text/event-stream", body = String),
        (status = 204, description = "The job is over, and nothing comes after the last event that was seen")
    )
)]
pub(crate) async fn events(
    request: HttpRequest,
    id: Path<String>,
    state: Data<State>,
) -> Result<HttpResponse, ApiError> {
    let row = find(&state.database, &id).await?;
    let last = request.headers().get("Last-Event-ID").and_then(|value| value.to_str().ok()?.parse().ok());
    let is_over = JobState::of(&row.state).is_none_or(JobState::is_over);
    if is_over && state.database.events_after(&id, last.unwrap_or(0), 1).await?.is_empty() {
        // A browser asks again after the end of a stream, unless it is told that nothing comes.
        return Ok(HttpResponse::NoContent().finish());
    }
    let client = request.extensions().get::<Client>().copied();
    let Some(seat) = state.streams.take_seat(client) else {
        return Err(ApiError::new(ErrorCode::TooManyRequests, "This address watches as many jobs as it may.")
            .retry_after(RETRY_SECONDS));
    };
    let watch = Watch {
        database: state.database.clone(),
        job: id.into_inner(),
        last: last.unwrap_or(0),
        silent: 0,
        over: false,
        until: Instant::now() + LONGEST,
        _seat: seat,
    };
    Ok(HttpResponse::Ok()
        .insert_header(ContentType(mime::TEXT_EVENT_STREAM))
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header(("X-Accel-Buffering", "no"))
        .streaming(watch.stream()))
}

/// Where a stream of events is.
struct Watch {
    database: Database,
    job: String,
    last: i64,
    silent: u32,
    over: bool,
    /// When whoever watches has to ask again.
    until: Instant,
    _seat: Seat,
}

impl Watch {
    /// Pieces of the stream until the job is over; a database that is away for a moment only delays them.
    fn stream(self) -> impl Stream<Item = Result<Bytes, std::io::Error>> {
        stream::unfold(self, |mut watch| async move {
            if watch.over || Instant::now() >= watch.until {
                return None;
            }
            let piece = watch.next().await;
            Some((Ok(piece), watch))
        })
    }

    async fn next(&mut self) -> Bytes {
        loop {
            if let Ok(events) = self.database.events_after(&self.job, self.last, MOST_EVENTS).await
                && let Some(last) = events.last()
            {
                self.last = last.sequence;
                self.silent = 0;
                self.over = is_end(last);
                return events.iter().map(written).collect::<String>().into();
            }
            self.silent += 1;
            if self.silent.is_multiple_of(KEEP_ALIVE_LOOKS) {
                // A job that was forgotten has no more events.
                self.over = matches!(self.database.job(&self.job).await, Ok(None));
                return Bytes::from_static(b": still here\n\n");
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Whether nothing comes after an event.
fn is_end(event: &Event) -> bool {
    matches!(
        serde_json::from_str(&event.body),
        Ok(JobEvent::State { state }) if state.is_over()
    )
}

/// An event as the HTML standard has it.
fn written(event: &Event) -> String {
    format!("id: {}\ndata: {}\n\n", event.sequence, event.body)
}
