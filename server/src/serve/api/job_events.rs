//! Handles `jobs/{id}/events`, the live events of a job.

use std::time::{Duration, Instant};

use actix_web::http::header::{CACHE_CONTROL, ContentType};
use actix_web::web::{Bytes, Data, Path};
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse};
use futures_util::stream::{self, Stream};
use shared::api::{ErrorCode, JobState};
use tokio::time::timeout;

use super::jobs::find;
use crate::database::Event;
use crate::serve::access_right::Client;
use crate::serve::error::ApiError;
use crate::serve::feeds::Reader;
use crate::serve::seats::Seat;
use crate::serve::state::State;

/// Interval between keep-alive comments in a silent stream, because proxies close idle connections.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Maximum duration of a stream; a browser reconnects by itself and continues where it ended.
const LONGEST: Duration = Duration::from_secs(3600);

/// Retry time for clients with too many streams, in seconds.
const RETRY_SECONDS: u64 = 10;

/// Streams the events of a job as server-sent events until it has ended.
///
/// The `data` of each is a `JobEvent`, and its `id` counts from 1. With `Last-Event-ID` the stream continues after that
/// event.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}/events", operation_id = "watch_job", tag = "jobs",
    params(
        ("id" = String, Path, description = "The job's `id`"),
        ("Last-Event-ID" = Option<i64>, Header, description = "The `id` of the last event that the client has seen")
    ),
    responses(
        (status = 200, description = "A stream of events", content_type = "text/event-stream", body = String),
        (status = 204, description = "The job has ended, and there are no further events")
    )
)]
pub(crate) async fn events(
    request: HttpRequest,
    id: Path<String>,
    state: Data<State>,
) -> Result<HttpResponse, ApiError> {
    let row = find(&state.database, &id).await?;
    let last: i64 =
        request.headers().get("Last-Event-ID").and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or(0);
    let is_over = JobState::of(&row.state).is_none_or(JobState::is_over);
    if is_over && state.database.events_after(&id, last, 1).await?.is_empty() {
        // A browser reconnects after the end of a stream unless it receives status 204.
        return Ok(HttpResponse::NoContent().finish());
    }
    let client = request.extensions().get::<Client>().map(|client| client.0);
    let Some(seat) = state.streams.take(client) else {
        return Err(ApiError::new(ErrorCode::TooManyRequests, "This address has reached its limit of event streams.")
            .retry_after(RETRY_SECONDS));
    };
    // Waiting for a number that no event has would take for ever.
    let is_known = last == 0 || !state.database.events_after(&id, last - 1, 1).await?.is_empty();
    let watch = Watch {
        reader: state.feeds.read(&state.database, id.into_inner(), if is_known { last } else { 0 }),
        until: Instant::now() + LONGEST,
        _seat: seat,
    };
    Ok(HttpResponse::Ok()
        .insert_header(ContentType(mime::TEXT_EVENT_STREAM))
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header(("X-Accel-Buffering", "no"))
        .streaming(watch.stream()))
}

/// State of an event stream.
struct Watch {
    reader: Reader,
    /// Time at which the stream ends and the client must reconnect.
    until: Instant,
    _seat: Seat,
}

impl Watch {
    /// Yields pieces of the stream until the job has ended; a short outage of the database only delays them.
    fn stream(self) -> impl Stream<Item = Result<Bytes, std::io::Error>> {
        stream::unfold(self, |mut watch| async move {
            if Instant::now() >= watch.until {
                return None;
            }
            let piece = match timeout(KEEP_ALIVE, watch.reader.next()).await {
                Ok(events) => events?.iter().map(written).collect::<String>().into(),
                Err(_) => Bytes::from_static(b": still here\n\n"),
            };
            Some((Ok(piece), watch))
        })
    }
}

/// Formats an event as the HTML standard defines server-sent events.
fn written(event: &Event) -> String {
    format!("id: {}\ndata: {}\n\n", event.sequence, event.body)
}
