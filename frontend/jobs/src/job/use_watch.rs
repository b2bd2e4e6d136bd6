//! Hook that follows a job by the events that the server sends.

use std::cell::RefCell;
use std::rc::Rc;

use frontend::platform::api_url;
use gloo_timers::callback::Timeout;
use shared::api::JobEvent;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, EventSource, MessageEvent};
use yew::prelude::*;

use super::model::watch::{Link, Watch, WatchAction};

/// Time until a refused stream is opened again, in milliseconds.
const RETRY_MS: u32 = 3000;

/// Time for which events are collected before a redraw, in milliseconds.
///
/// A page that joins late receives thousands of events at once, and a redraw for each would take minutes.
const GATHER_MS: u32 = 50;

/// [`Watch`] as the state of a yew reducer.
#[derive(Default, PartialEq)]
struct Model(Rc<Watch>);

impl Reducible for Model {
    type Action = WatchAction;

    fn reduce(self: Rc<Self>, action: WatchAction) -> Rc<Self> {
        Rc::new(Self(Rc::new(self.0.after(action))))
    }
}

/// Returns the state derived from a job's events, which arrive until the job ends.
#[hook]
pub(crate) fn use_watch(id: &str) -> Rc<Watch> {
    let model = use_reducer_eq(Model::default);
    let dispatcher = model.dispatcher();
    use_effect_with(id.to_owned(), move |id| {
        let follower = Rc::new(Follower {
            url: api_url(&format!("jobs/{id}/events")),
            dispatcher,
            stream: RefCell::default(),
            retry: RefCell::default(),
            gathered: RefCell::default(),
        });
        Follower::open(&follower);
        move || {
            follower.stream.take();
            follower.retry.take();
            follower.gathered.take();
        }
    });
    Rc::clone(&model.0)
}

struct Follower {
    url: String,
    dispatcher: UseReducerDispatcher<Model>,
    stream: RefCell<Option<EventStream>>,
    retry: RefCell<Option<Timeout>>,
    gathered: RefCell<Vec<(u64, JobEvent)>>,
}

impl Follower {
    fn open(this: &Rc<Self>) {
        let weak = Rc::downgrade(this);
        let stream = EventStream::open(&this.url, move |event| {
            if let Some(this) = weak.upgrade() {
                Self::hear(&this, event);
            }
        });
        *this.stream.borrow_mut() = stream;
    }

    fn hear(this: &Rc<Self>, event: StreamEvent) {
        match event {
            StreamEvent::Open => this.dispatcher.dispatch(WatchAction::Linked(Link::Live)),
            StreamEvent::Away => this.dispatcher.dispatch(WatchAction::Linked(Link::Away)),
            StreamEvent::Closed => {
                this.dispatcher.dispatch(WatchAction::Linked(Link::Away));
                let next = Rc::clone(this);
                *this.retry.borrow_mut() = Some(Timeout::new(RETRY_MS, move || Self::open(&next)));
            }
            // An event of a newer server that this page cannot parse is ignored.
            StreamEvent::Message(number, data) => {
                let Ok(event) = serde_json::from_str(&data) else { return };
                // It waits for the next redraw.
                this.gathered.borrow_mut().push((number, event));
                if this.gathered.borrow().len() == 1 {
                    let this = Rc::clone(this);
                    Timeout::new(GATHER_MS, move || this.pass_on()).forget();
                }
            }
        }
    }

    fn pass_on(&self) {
        let events = self.gathered.take();
        // The browser would reopen a stream that the server has ended.
        if events.iter().any(|(_, event)| matches!(event, JobEvent::State { state } if state.is_over())) {
            self.stream.take();
        }
        if !events.is_empty() {
            self.dispatcher.dispatch(WatchAction::Hear(events));
        }
    }
}

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
