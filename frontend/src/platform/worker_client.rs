//! The page's handle to the Web Worker of one file.

use super::messages::{from_buffer, to_buffer};
use super::reader::Source;
use crate::worker::{
    AllocationKey, AllocationsAnswer, AllocationsQuestion, Answer, Axis, CategoryBytes, CompareAnswer, CompareQuestion,
    CopyOptions, CopyPreview, Details, ExportOrder, FlameAnswer, FlameQuestion, Hit, Instant, Marks, Order, PartOrder,
    PictureData, Question, Report, SegmentsData, SheetOrder, Stacks, View, WhatIfAnswer, WhatIfQuestion, WhatIfSetup,
};
use futures_channel::oneshot;
use js_sys::Function;
use shared::report::Diagnosis;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{Blob, ErrorEvent, MessageEvent, Worker, WorkerOptions, WorkerType};

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
enum Waiting {
    Answer(oneshot::Sender<Answer>),
    Copy { done: oneshot::Sender<Result<Blob, AskError>>, progress: Rc<dyn Fn(f64)> },
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
        f.debug_struct("WorkerClient").field("questions", &self.inner.next).finish_non_exhaustive()
    }
}

impl PartialEq for WorkerClient {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.inner, &other.inner)
    }
}

impl WorkerClient {
    /// Starts a worker on a file; `on_report` receives progress, success and failure.
    ///
    /// # Errors
    /// Returns an error if the browser can't start workers at all.
    pub fn open(script: &str, source: &Source, on_report: impl Fn(Report) + Clone + 'static) -> Result<Self, JsValue> {
        let worker = spare_worker().map_or_else(|| new_worker(script), Ok)?;
        let pending = Pending::default();
        let on_message = Closure::new({
            let (pending, on_report) = (pending.clone(), on_report.clone());
            move |event: MessageEvent| match from_buffer(&event.data()) {
                Some(Report::Answer(number, answer)) => deliver(&pending, number, answer),
                Some(Report::Copying(number, share)) => tell(&pending, number, share),
                Some(report) => on_report(report),
                // The script that loads the decoder posts a string if it fails to.
                None if event.data().is_string() => on_report(Report::NoDecoder),
                None => deliver_copy(&pending, &event.data()),
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

    /// Makes the worker survey what the file contains, for a choice of a part; data that is open is dropped.
    ///
    /// # Errors
    /// Returns an error if the file was closed.
    pub fn survey(&self) -> Result<(), AskError> {
        self.order(&Order::Survey)
    }

    /// Makes the worker open some events of the file, or all of it; data that is open is dropped.
    ///
    /// # Errors
    /// Returns an error if the file was closed.
    pub fn open_part(&self, part: Option<PartOrder>) -> Result<(), AskError> {
        self.order(&Order::Open(part))
    }

    /// Makes the worker store a copy of the file under a name in the tab's folder, and report the result.
    ///
    /// # Errors
    /// Returns an error if the file was closed.
    pub fn keep(&self, session: String, key: String) -> Result<(), AskError> {
        let order = to_buffer(&Order::Keep { session, key });
        self.inner.worker.post_message(&order).map_err(|_| AskError::Closed)
    }

    fn order(&self, order: &Order) -> Result<(), AskError> {
        // Pending questions are about data that is dropped now.
        self.inner.pending.borrow_mut().clear();
        self.inner.worker.post_message(&to_buffer(order)).map_err(|_| AskError::Closed)
    }

    /// Ends the worker at once; pending questions fail with [`AskError::Closed`].
    pub fn close(&self) {
        self.inner.worker.terminate();
        self.inner.pending.borrow_mut().clear();
    }

    /// Requests the bands and outlines of a view.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn picture(&self, device: u32, view: View) -> Result<PictureData, AskError> {
        match self.ask(Question::Picture { device, view }).await? {
            Answer::Picture(picture) => Ok(picture),
            other => Err(refusal(other)),
        }
    }

    /// Requests the live and reserved outlines of a device's whole trace; the picture has no bands.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn outline(&self, device: u32, axis: Axis, columns: u32) -> Result<PictureData, AskError> {
        match self.ask(Question::Outline { device, axis, columns }).await? {
            Answer::Outline(picture) => Ok(picture),
            other => Err(refusal(other)),
        }
    }

    /// Requests what a picture shows at a place of the axis and a height, where a device pixel is `units_per_px` wide.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn hit(
        &self,
        device: u32,
        axis: Axis,
        (x, units_per_px): (f64, f64),
        bytes: f64,
    ) -> Result<Hit, AskError> {
        match self.ask(Question::Hit { device, axis, x, bytes, units_per_px }).await? {
            Answer::Hit(hit) => Ok(hit),
            other => Err(refusal(other)),
        }
    }

    /// Requests the position of a moment's middle on an axis.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn place(&self, device: u32, axis: Axis, moment: u32) -> Result<f64, AskError> {
        match self.ask(Question::Place { device, axis, moment }).await? {
            Answer::Place(x) => Ok(x),
            other => Err(refusal(other)),
        }
    }

    /// Requests what a point on an allocation would show at a moment.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn find(&self, device: u32, key: AllocationKey, moment: u32) -> Result<Hit, AskError> {
        match self.ask(Question::Find { device, key, moment }).await? {
            Answer::Hit(hit) => Ok(hit),
            other => Err(refusal(other)),
        }
    }

    /// Requests a preview of what a clean copy of the file would leave out.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn preview(&self, options: CopyOptions) -> Result<CopyPreview, AskError> {
        match self.ask(Question::Preview(options)).await? {
            Answer::Preview(preview) => Ok(*preview),
            other => Err(refusal(other)),
        }
    }

    /// Requests a clean copy of the file, compressed; `progress` receives the completed fraction.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn copy(&self, options: CopyOptions, progress: impl Fn(f64) + 'static) -> Result<Blob, AskError> {
        let (done, receiver) = oneshot::channel();
        self.post(Question::Copy(options), Waiting::Copy { done, progress: Rc::new(progress) })?;
        receiver.await.map_err(|_| AskError::Closed)?
    }

    /// Requests a replay of a device's requests with other allocator settings or on another card.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`]. A setting that can't be applied is refused by
    /// its name.
    pub async fn what_if(&self, device: u32, question: WhatIfQuestion) -> Result<WhatIfAnswer, AskError> {
        match self.ask(Question::WhatIf { device, question }).await? {
            Answer::WhatIf(answer) => Ok(answer),
            other => Err(refusal(other)),
        }
    }

    /// Requests a replay as a compressed snapshot.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`what_if`](Self::what_if).
    pub async fn replay_snapshot(&self, device: u32, setup: WhatIfSetup) -> Result<Blob, AskError> {
        let (done, receiver) = oneshot::channel();
        let question = Question::WhatIf { device, question: WhatIfQuestion::Snapshot(setup) };
        self.post(question, Waiting::Copy { done, progress: Rc::new(|_| ()) })?;
        receiver.await.map_err(|_| AskError::Closed)?
    }

    /// Requests the findings for a card; `None` stands for an unknown card.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn findings(&self, capacity_bytes: Option<u64>) -> Result<Diagnosis, AskError> {
        match self.ask(Question::Findings { capacity_bytes }).await? {
            Answer::Findings(findings) => Ok(*findings),
            other => Err(refusal(other)),
        }
    }

    /// Requests the file in another format.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn export(&self, order: ExportOrder) -> Result<Blob, AskError> {
        let (done, receiver) = oneshot::channel();
        self.post(Question::Export(order), Waiting::Copy { done, progress: Rc::new(|_| ()) })?;
        receiver.await.map_err(|_| AskError::Closed)?
    }

    /// Requests a table as shown on the screen, as a file.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn sheet(&self, order: SheetOrder) -> Result<Blob, AskError> {
        let (done, receiver) = oneshot::channel();
        self.post(Question::Sheet(Box::new(order)), Waiting::Copy { done, progress: Rc::new(|_| ()) })?;
        receiver.await.map_err(|_| AskError::Closed)?
    }

    /// Requests the details of one allocation.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn details(&self, device: u32, allocation: u32) -> Result<Details, AskError> {
        match self.ask(Question::Details { device, allocation }).await? {
            Answer::Details(details) => Ok(*details),
            other => Err(refusal(other)),
        }
    }

    /// Requests the stacks that hold the live bytes of a moment, at most `limit`.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn stacks(&self, device: u32, moment: u32, limit: u32) -> Result<Stacks, AskError> {
        match self.ask(Question::Stacks { device, moment, limit }).await? {
            Answer::Stacks(stacks) => Ok(stacks),
            other => Err(refusal(other)),
        }
    }

    /// Requests tables of a device's allocations.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn allocations(&self, device: u32, question: AllocationsQuestion) -> Result<AllocationsAnswer, AskError> {
        match self.ask(Question::Allocations { device, question }).await? {
            Answer::Allocations(answer) => Ok(answer),
            other => Err(refusal(other)),
        }
    }

    /// Requests the segments of a moment with their blocks.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn segments(&self, device: u32, instant: Instant) -> Result<SegmentsData, AskError> {
        match self.ask(Question::Segments { device, instant }).await? {
            Answer::Segments(segments) => Ok(*segments),
            other => Err(refusal(other)),
        }
    }

    /// Requests the annotated spans and single marks of a device.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn marks(&self, device: u32) -> Result<Marks, AskError> {
        match self.ask(Question::Marks { device }).await? {
            Answer::Marks(marks) => Ok(marks),
            other => Err(refusal(other)),
        }
    }

    /// Requests the stacks of a device as a flame graph or as a table of call sites.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn flame(&self, device: u32, question: FlameQuestion) -> Result<FlameAnswer, AskError> {
        match self.ask(Question::Flame { device, question: Box::new(question) }).await? {
            Answer::Flame(answer) => Ok(answer),
            other => Err(refusal(other)),
        }
    }

    /// Requests the live bytes of a moment by category.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn categories(&self, device: u32, moment: u32) -> Result<CategoryBytes, AskError> {
        match self.ask(Question::Categories { device, moment }).await? {
            Answer::Categories(categories) => Ok(categories),
            other => Err(refusal(other)),
        }
    }

    /// Asks a question about a comparison; the answer's variant matches the question's.
    ///
    /// # Errors
    /// Returns an error if the worker gives no answer; see [`AskError`].
    pub async fn compare(&self, device: u32, question: CompareQuestion) -> Result<CompareAnswer, AskError> {
        match self.ask(Question::Compare { device, question }).await? {
            Answer::Compare(answer) => Ok(answer),
            other => Err(refusal(other)),
        }
    }

    async fn ask(&self, question: Question) -> Result<Answer, AskError> {
        let (sender, receiver) = oneshot::channel();
        self.post(question, Waiting::Answer(sender))?;
        receiver.await.map_err(|_| AskError::Closed)
    }

    fn post(&self, question: Question, waiting: Waiting) -> Result<(), AskError> {
        let number = self.inner.next.get();
        self.inner.next.set(number.wrapping_add(1));
        self.inner.pending.borrow_mut().insert(number, waiting);
        self.inner.worker.post_message(&to_buffer(&Order::Ask(number, question))).map_err(|_| AskError::Closed)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}

fn deliver(pending: &Pending, number: u32, answer: Answer) {
    // The borrow must end before the receiver's task runs, because that may ask the next question.
    let waiting = pending.borrow_mut().remove(&number);
    // An error means that the asker does not wait any more.
    match waiting {
        Some(Waiting::Answer(sender)) => drop(sender.send(answer)),
        Some(Waiting::Copy { done, .. }) => drop(done.send(Err(refusal(answer)))),
        None => (),
    }
}

/// Delivers a copy, which arrives as a number and a `Blob`.
fn deliver_copy(pending: &Pending, data: &JsValue) {
    let Some(parts) = data.dyn_ref::<js_sys::Array>() else { return };
    let (number, Ok(blob)) = (parts.get(0).as_f64(), parts.get(1).dyn_into::<Blob>()) else { return };
    let waiting = number.and_then(|number| pending.borrow_mut().remove(&(number as u32)));
    if let Some(Waiting::Copy { done, .. }) = waiting {
        // As above, an error means that the asker does not wait any more.
        let _ = done.send(Ok(blob));
    }
}

fn tell(pending: &Pending, number: u32, share: f64) {
    let progress = match pending.borrow().get(&number) {
        Some(Waiting::Copy { progress, .. }) => progress.clone(),
        _ => return,
    };
    progress(share);
}

fn refusal(answer: Answer) -> AskError {
    match answer {
        Answer::Superseded => AskError::Superseded,
        Answer::Refused(reason) => AskError::Refused(reason),
        _ => AskError::Refused("the answer is of another kind than the question".to_owned()),
    }
}

/// Distinguishes error events by their message, which only a script that was loaded and then failed has.
fn crash_report(event: &JsValue) -> Report {
    let detail = js_sys::Reflect::get(event, &"message".into()).ok().and_then(|message| message.as_string());
    detail.map_or(Report::NoDecoder, Report::Stopped)
}
