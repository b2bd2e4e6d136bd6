//! The page's handle to the Web Worker of one file, the place from which the worker reads it, and their messages.
//!
//! The browser transfers a message as one buffer.

use crate::ask::{Ask, AskFile, Failure, GetPicture, Order, PictureData, Question, Report, Wanted, wire};
use futures_channel::oneshot;
use js_sys::{Array, ArrayBuffer, Function, Uint8Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, ErrorEvent, File, ImageBitmap, MessageEvent, Worker, WorkerOptions, WorkerType};

/// Picture with its image; without one, the page colours its pixels.
pub type Drawn = (PictureData, Option<ImageBitmap>);

/// Reason why a question got no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskError {
    /// Replaced by a newer question of the same kind.
    Superseded,
    Closed,
    /// Refused by the worker, for the given reason.
    Refused(String),
}

thread_local! {
    /// JavaScript function that returns a worker that was started in advance.
    static TAKE_WORKER: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Sets the function that returns the worker that was started in advance, if there is one; the first file gets that
/// worker.
pub fn keep_spare_worker(take_worker: Function) {
    TAKE_WORKER.set(Some(take_worker));
}

fn spare_worker() -> Option<Worker> {
    let worker = TAKE_WORKER.take()?.call0(&JsValue::NULL).ok()?;
    worker.dyn_into().ok()
}

fn new_worker(script: &str) -> Result<Worker, JsValue> {
    let options = WorkerOptions::new();
    options.set_type(WorkerType::Module);
    Worker::new_with_options(script, &options)
}

type Pending = Rc<RefCell<HashMap<u32, Waiting>>>;

/// Question without an answer yet.
struct Waiting {
    done: oneshot::Sender<Result<Array, AskError>>,
    progress: Rc<dyn Fn(f64)>,
}

/// Web Worker that holds one file's model; cheap to clone, and equal only to its clones.
///
/// The worker ends, and its memory is freed, when [`close`](Self::close) is called or the last clone is dropped.
#[derive(Clone)]
pub struct WorkerClient {
    inner: Rc<Inner>,
}

struct Inner {
    worker: Worker,
    pending: Pending,
    next: Cell<u32>,
    // The closures must live as long as the worker may call them.
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(ErrorEvent)>,
}

impl std::fmt::Debug for WorkerClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkerClient").finish_non_exhaustive()
    }
}

impl PartialEq for WorkerClient {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.inner, &other.inner)
    }
}

impl WorkerClient {
    /// Starts a worker on a file; `on_report` receives progress, success and failure. It fails if the browser can't
    /// start workers at all.
    pub fn open(script: &str, source: &Source, on_report: impl Fn(Report) + Clone + 'static) -> Result<Self, JsValue> {
        let worker = spare_worker().map_or_else(|| new_worker(script), Ok)?;
        let pending = Pending::default();
        let on_message = Closure::new({
            let (pending, on_report) = (pending.clone(), on_report.clone());
            move |event: MessageEvent| match from_buffer(&event.data()) {
                Some(Report::Superseded(number)) => deliver(&pending, number, Err(AskError::Superseded)),
                Some(Report::Refused(number, reason)) => deliver(&pending, number, Err(AskError::Refused(reason))),
                Some(Report::Copying(number, fraction)) => tell(&pending, number, fraction),
                Some(report) => on_report(report),
                // The script that loads the decoder posts a string if it fails to.
                None if event.data().is_string() => on_report(Report::Failed(Failure::without_decoder())),
                None => deliver_reply(&pending, &event.data()),
            }
        });
        let on_error = Closure::new({
            let pending = pending.clone();
            move |event: ErrorEvent| {
                pending.borrow_mut().clear();
                on_report(crash_report(&event));
            }
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        match source {
            Source::File(file) => worker.post_message(file)?,
            Source::Url(url) => worker.post_message(&to_buffer(&Order::Fetch(url.clone())))?,
        }
        let next = Cell::new(0);
        Ok(Self { inner: Rc::new(Inner { worker, pending, next, _on_message: on_message, _on_error: on_error }) })
    }

    /// Makes the worker read the file again; data that is open is dropped.
    pub fn read_again(&self, wanted: Wanted) -> Result<(), AskError> {
        // Pending questions are about data that is dropped now.
        self.inner.pending.borrow_mut().clear();
        self.post(&Order::Read(wanted))
    }

    /// Makes the worker store a copy of the file under a name in the tab's folder, and report the result.
    pub fn keep(&self, session: String, key: String) -> Result<(), AskError> {
        self.post(&Order::Keep { session, key })
    }

    fn post(&self, order: &Order) -> Result<(), AskError> {
        self.inner.worker.post_message(&to_buffer(order)).map_err(|_| AskError::Closed)
    }

    /// Ends the worker at once; pending questions fail with [`AskError::Closed`].
    pub fn close(&self) {
        self.inner.worker.terminate();
        self.inner.pending.borrow_mut().clear();
    }

    pub async fn ask<A: Ask>(&self, question: A) -> Result<A::Answer, AskError> {
        let parts = self.reply(question.into(), |_| ()).await?;
        from_buffer(&parts.get(1)).ok_or_else(unreadable)
    }

    /// Asks for a picture, which comes with its image unless the worker can make none.
    pub async fn picture(&self, question: GetPicture) -> Result<Drawn, AskError> {
        let parts = self.reply(question.into(), |_| ()).await?;
        let picture = from_buffer(&parts.get(1)).ok_or_else(unreadable)?;
        Ok((picture, parts.get(2).dyn_into().ok()))
    }

    /// Asks for a file; `progress` receives the completed fraction (0 to 1).
    pub async fn file<A: AskFile>(&self, question: A, progress: impl Fn(f64) + 'static) -> Result<Blob, AskError> {
        let parts = self.reply(question.into(), progress).await?;
        parts.get(1).dyn_into().map_err(|_| AskError::Refused("the file can't be read".to_owned()))
    }

    /// Returns what the worker replies: the number of the question, a buffer or a `Blob`, and the image of a picture.
    async fn reply(&self, question: Question, progress: impl Fn(f64) + 'static) -> Result<Array, AskError> {
        let (done, receiver) = oneshot::channel();
        let number = self.inner.next.get();
        self.inner.next.set(number.wrapping_add(1));
        self.inner.pending.borrow_mut().insert(number, Waiting { done, progress: Rc::new(progress) });
        self.post(&Order::Ask(number, question))?;
        receiver.await.map_err(|_| AskError::Closed)?
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}

fn deliver(pending: &Pending, number: u32, reply: Result<Array, AskError>) {
    // The borrow must end before the receiver's task runs, because that may ask the next question.
    let waiting = pending.borrow_mut().remove(&number);
    if let Some(Waiting { done, .. }) = waiting {
        // An error means that the asker does not wait any more.
        let _ = done.send(reply);
    }
}

/// Delivers a reply, which begins with the number of its question.
fn deliver_reply(pending: &Pending, data: &JsValue) {
    let Some(parts) = data.dyn_ref::<Array>() else { return };
    if let Some(number) = parts.get(0).as_f64() {
        deliver(pending, number as u32, Ok(parts.clone()));
    }
}

fn unreadable() -> AskError {
    AskError::Refused("the answer can't be read".to_owned())
}

fn tell(pending: &Pending, number: u32, fraction: f64) {
    let progress = pending.borrow().get(&number).map(|waiting| waiting.progress.clone());
    if let Some(progress) = progress {
        progress(fraction);
    }
}

/// Distinguishes error events by their message, which only a script that was loaded and then failed has.
fn crash_report(event: &JsValue) -> Report {
    let detail = js_sys::Reflect::get(event, &"message".into()).ok().and_then(|message| message.as_string());
    Report::Failed(detail.map_or_else(Failure::without_decoder, |detail| Failure::stopped(&detail)))
}

pub fn to_buffer(message: &impl Serialize) -> ArrayBuffer {
    Uint8Array::from(wire::write(message).as_slice()).buffer()
}

/// Reads the message in a buffer; `None` for anything else.
pub fn from_buffer<T: DeserializeOwned>(data: &JsValue) -> Option<T> {
    let buffer: &ArrayBuffer = data.dyn_ref()?;
    wire::read(&Uint8Array::new(buffer).to_vec())
}

/// Source of a file's bytes.
#[derive(Clone, Debug)]
pub enum Source {
    /// File that the user chose.
    File(File),
    /// URL of this site.
    Url(String),
}
