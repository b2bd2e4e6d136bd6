//! Server-sent events (SSE), read through the browser's `EventSource`.

use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{Event, EventSource, MessageEvent};

/// Event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StreamEvent {
    Open,
    /// Message with its event id and its data.
    Message(u64, String),
    /// The connection broke off; the browser reconnects and resumes after the last event.
    Away,
    /// The stream was refused, and the browser does not retry.
    Closed,
}

/// Stream of server-sent events that stays open until it is dropped.
pub(crate) struct EventStream {
    source: EventSource,
    // The closures must live as long as the browser may call them.
    _on_open: Closure<dyn FnMut(Event)>,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(Event)>,
}

impl EventStream {
    /// Opens a stream; `None` if the browser refuses to.
    pub(crate) fn open(url: &str, on_event: impl Fn(StreamEvent) + Clone + 'static) -> Option<Self> {
        let source = EventSource::new(url).ok()?;
        let hear = on_event.clone();
        let on_open = Closure::new(move |_: Event| hear(StreamEvent::Open));
        let hear = on_event.clone();
        let on_message = Closure::new(move |event: MessageEvent| {
            let number = event.last_event_id().parse().unwrap_or(0);
            hear(StreamEvent::Message(number, event.data().as_string().unwrap_or_default()));
        });
        let asked = source.clone();
        let on_error = Closure::new(move |_: Event| {
            let is_closed = asked.ready_state() == EventSource::CLOSED;
            on_event(if is_closed { StreamEvent::Closed } else { StreamEvent::Away });
        });
        source.set_onopen(Some(on_open.as_ref().unchecked_ref()));
        source.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        source.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Some(Self { source, _on_open: on_open, _on_message: on_message, _on_error: on_error })
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.source.close();
    }
}
