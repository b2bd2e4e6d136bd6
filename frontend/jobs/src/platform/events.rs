//! Server-sent events.

use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{Event, EventSource, MessageEvent};

/// Something that a stream says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StreamEvent {
    /// It is open.
    Open,
    /// An event: its number, and its data.
    Message(u64, String),
    /// It broke off; the browser opens it again and goes on where it was.
    Away,
    /// It was refused, and the browser has given up.
    Closed,
}

/// An open stream of server-sent events, until it is dropped.
pub(crate) struct EventStream {
    source: EventSource,
    // They must live as long as the browser may call them.
    _on_open: Closure<dyn FnMut(Event)>,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(Event)>,
}

impl EventStream {
    /// Opens a stream; `None` where the browser can't.
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
