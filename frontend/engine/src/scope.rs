//! The browser's side of a file's Web Worker: passes messages to the engine and its reports to the page.

use crate::engine::Engine;
use crate::image::Images;
use crate::keeper;
use crate::log_module::{self, LogFile};
use crate::queue::{FirstPicture, Queue};
use crate::reader::Reader;
use frontend::ask::{
    Answers, Failure, FileBytes, GetPicture, Order, PartOrder, PreviewData, Question, Remedy, Reply, Report, Wanted,
};
use frontend::platform::{Source, blob, from_buffer, to_buffer};
use gloo_timers::callback::Timeout;
use js_sys::{Array, ArrayBuffer, Function, Uint8Array};
use logs::{Content, OpenerBy, Unread, is_snapshot};
use shared::import::{ImportError, Importer, Overview};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{DedicatedWorkerGlobalScope, File, MessageEvent};

/// Minimum time between two progress reports in milliseconds; the page could not show more, and each takes frame time.
const PROGRESS_MS: f64 = 60.0;

/// Time in milliseconds that the worker waits for the page to request its first picture before it does other work.
const PATIENCE_MS: u32 = 1500;

/// Time in milliseconds without a request for a picture after which the worker goes on with other work.
///
/// Each of its tasks takes up to some hundred milliseconds, for which the next picture of a gesture would wait.
const CALM_MS: f64 = 150.0;

/// Size and reading time from which a file is previewed while it is read; reaching either is enough.
const PREVIEW_BYTES: u64 = 30_000_000;
const PREVIEW_MS: f64 = 500.0;

/// Size in bytes from which a file is not opened at once, but the user chooses a part of it.
///
/// A tab has room for about twice as much.
const HUGE_BYTES: f64 = 2e9;

/// Handles the worker's messages; `early` holds those that arrived before the module was loaded, and `load_log` loads
/// the module that reads logs.
pub(crate) fn run(early: &Array, load_log: Function) {
    let worker = Rc::new(FileWorker::new(load_log));
    std::panic::set_hook(Box::new({
        let scope = worker.scope.clone();
        move |info| post(&scope, &Report::Failed(Failure::of_panic(&info.to_string())))
    }));
    for message in early.iter() {
        worker.hear(&message);
    }
    let on_message: Closure<dyn FnMut(MessageEvent)> = Closure::new({
        let worker = worker.clone();
        move |event: MessageEvent| worker.hear(&event.data())
    });
    worker.scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    // The worker listens until it is terminated.
    on_message.forget();
}

/// What a file turned out to be: a snapshot, or a log, with the report for the page.
type Loaded = Content<Decoded, ArrayBuffer>;

enum Decoded {
    Engine(Box<Engine>),
    Overview(Overview),
}

struct FileWorker {
    scope: DedicatedWorkerGlobalScope,
    load_log: Function,
    /// The file, which is read again for a part of it.
    source: RefCell<Option<Source>>,
    /// Contents of the file, known after a first pass.
    overview: RefCell<Option<Overview>>,
    /// Number of the current reading of the file; a running older one stops.
    reading: Cell<u32>,
    engine: RefCell<Option<Engine>>,
    queue: RefCell<Queue>,
    is_scheduled: Cell<bool>,
    first_picture: Cell<FirstPicture>,
    /// Time from which other work goes on, in milliseconds since the Unix epoch.
    calm_from_ms: Cell<f64>,
    /// True while a timer runs until then.
    awaits_calm: Cell<bool>,
    images: RefCell<Images>,
}

impl FileWorker {
    fn new(load_log: Function) -> Self {
        Self {
            scope: js_sys::global().unchecked_into(),
            load_log,
            source: RefCell::default(),
            overview: RefCell::default(),
            reading: Cell::new(0),
            engine: RefCell::default(),
            queue: RefCell::default(),
            is_scheduled: Cell::new(false),
            first_picture: Cell::default(),
            calm_from_ms: Cell::new(0.0),
            awaits_calm: Cell::new(false),
            images: RefCell::default(),
        }
    }

    fn hear(self: &Rc<Self>, message: &JsValue) {
        if let Some(file) = message.dyn_ref::<File>() {
            let wanted = if file.size() >= HUGE_BYTES { Wanted::Survey } else { Wanted::All };
            return self.open(Source::File(file.clone()), wanted);
        }
        match from_buffer(message) {
            Some(Order::Fetch(url)) => self.open(Source::Url(url), Wanted::All),
            Some(Order::Read(wanted)) => {
                let source = self.source.borrow().clone();
                source.into_iter().for_each(|source| self.open(source, wanted));
            }
            Some(Order::Keep { session, key }) => self.keep(session, key),
            Some(Order::Ask(number, question)) => {
                self.queue.borrow_mut().push(number, question);
                self.schedule();
            }
            None => (),
        }
    }

    /// Stores a copy of the file, slice by slice, while it stays open.
    fn keep(self: &Rc<Self>, session: String, key: String) {
        let (worker, reading) = (self.clone(), self.reading.get());
        let source = self.source.borrow().clone();
        spawn_local(async move {
            let is_kept = match source {
                Some(Source::File(file)) => {
                    keeper::keep(&file, &session, &key, || worker.reading.get() == reading).await
                }
                Some(Source::Url(_)) | None => false,
            };
            worker.post(&Report::Kept(is_kept));
        });
    }

    fn open(self: &Rc<Self>, source: Source, wanted: Wanted) {
        let worker = self.clone();
        let reading = self.reading.get() + 1;
        self.reading.set(reading);
        *self.source.borrow_mut() = Some(source.clone());
        *self.engine.borrow_mut() = None;
        *self.queue.borrow_mut() = Queue::default();
        self.first_picture.take();
        if let (Wanted::Survey, Some(overview)) = (wanted, &*self.overview.borrow()) {
            return self.post(&Report::Surveyed(Box::new(PreviewData::of_overview(overview))));
        }
        spawn_local(async move {
            let mut loaded = worker.load(&source, reading, wanted).await;
            if let Ok(Some(Content::Snapshot(Decoded::Overview(overview)))) = &loaded
                && overview.devices.is_empty()
            {
                // A file without events has no parts and is opened.
                loaded = worker.load(&source, reading, Wanted::All).await;
            }
            if worker.reading.get() != reading {
                return;
            }
            match loaded {
                Ok(Some(Content::Snapshot(Decoded::Engine(engine)))) => {
                    worker.post(&Report::Opened(Box::new(engine.summary.clone())));
                    *worker.engine.borrow_mut() = Some(*engine);
                    worker.schedule();
                }
                Ok(Some(Content::Snapshot(Decoded::Overview(overview)))) => {
                    worker.post(&Report::Surveyed(Box::new(PreviewData::of_overview(&overview))));
                    *worker.overview.borrow_mut() = Some(overview);
                }
                Ok(Some(Content::Log(report))) => transfer(&worker.scope, &report),
                Ok(None) => (),
                Err(failure) => worker.post(&Report::Failed(failure)),
            }
        });
    }

    /// Reads a file to its end, and reports progress; `None` if a newer reading has started.
    async fn load(&self, source: &Source, reading: u32, wanted: Wanted) -> Result<Option<Loaded>, Failure> {
        let mut opener = match wanted {
            Wanted::Part(part) => OpenerBy::of_snapshot(self.part_importer(part)?),
            Wanted::All => OpenerBy::new(Importer::with_preview()),
            Wanted::Survey => {
                self.post(&Report::Surveying);
                OpenerBy::new(Importer::overview())
            }
        };
        let first_bytes = self.overview.borrow().as_ref().map(|overview| overview.file_bytes);
        let decode = |importer: Importer| match wanted {
            Wanted::Survey => importer.finish_overview().map(Decoded::Overview),
            Wanted::Part(_) if first_bytes != Some(importer.seen_bytes()) => Err(changed()),
            Wanted::Part(_) | Wanted::All => {
                importer.finish().map(|trace| Decoded::Engine(Box::new(Engine::new(trace))))
            }
        };
        let is_previewed = !matches!(wanted, Wanted::Survey);
        loop {
            let Some(read) = self.pass(source, reading, &mut opener, is_previewed).await? else { return Ok(None) };
            match read.and_then(|()| opener.finish(decode)) {
                Ok(content) => return Ok(Some(content)),
                Err(unread) => opener = unread.again()?,
            }
        }
    }

    fn part_importer(&self, part: PartOrder) -> Result<Importer, ImportError> {
        let overview = self.overview.borrow();
        let devices = overview.iter().flat_map(|overview| &overview.devices);
        let device = devices.into_iter().find(|device| device.index == part.device).cloned().unwrap_or_default();
        device.part(part.start..part.end).map(Importer::part)
    }

    /// Passes a file once to its opener, which may refuse it; `None` if a newer reading has started.
    async fn pass(
        &self,
        source: &Source,
        reading: u32,
        opener: &mut OpenerBy<LogFile>,
        is_previewed: bool,
    ) -> Result<Option<Result<(), Unread>>, Failure> {
        let mut reader = Reader::open(source, &self.scope).await.map_err(unreadable)?;
        let began_ms = js_sys::Date::now();
        let (mut slice, mut seen_bytes, mut told_ms) = (Vec::new(), 0, 0.0);
        while self.reading.get() == reading {
            let next = reader.next(&mut slice).await.map_err(unreadable)?;
            if seen_bytes == 0 && !is_snapshot(&slice) {
                log_module::load(&self.load_log).await.map_err(|_| Failure::without_decoder())?;
            }
            let ended = if next.is_none() { Some(Ok(())) } else { opener.push(&slice).err().map(Err) };
            if let Some(read) = ended {
                return Ok((self.reading.get() == reading).then_some(read));
            }
            seen_bytes += slice.len() as u64;
            let (total_bytes, now_ms) = (reader.total_bytes, js_sys::Date::now());
            if now_ms - told_ms >= PROGRESS_MS || seen_bytes >= total_bytes {
                self.post(&Report::Progress { seen_bytes, total_bytes });
                let is_slow = total_bytes >= PREVIEW_BYTES || now_ms - began_ms >= PREVIEW_MS;
                let preview = opener.importer().filter(|_| is_previewed && is_slow).and_then(Importer::preview);
                if let Some(preview) = preview.filter(|preview| !preview.is_odd) {
                    self.post(&Report::Preview(Box::new(PreviewData::of_preview(&preview))));
                }
                told_ms = now_ms;
            }
        }
        Ok(None)
    }

    /// Schedules work after the messages that already wait in the browser, so that the queue knows the newest question.
    fn schedule(self: &Rc<Self>) {
        if !self.is_scheduled.replace(true) {
            let worker = self.clone();
            Timeout::new(0, move || {
                worker.is_scheduled.set(false);
                worker.work();
            })
            .forget();
        }
    }

    /// Schedules work for later; a question that arrives until then is answered at once.
    fn schedule_when_calm(self: &Rc<Self>, rest_ms: f64) {
        if !self.awaits_calm.replace(true) {
            let worker = self.clone();
            Timeout::new(rest_ms.ceil() as u32, move || {
                worker.awaits_calm.set(false);
                worker.schedule();
            })
            .forget();
        }
    }

    /// Returns the time in milliseconds until other work than answers may go on; `None` if it may now.
    fn until_calm(&self) -> Option<f64> {
        let rest_ms = self.calm_from_ms.get() - js_sys::Date::now();
        // A clock that was set back must not stop the work.
        (0.0 < rest_ms && rest_ms <= CALM_MS).then_some(rest_ms)
    }

    /// Answers one question; without any, sends the page the next report about the file.
    fn work(self: &Rc<Self>) {
        let mut engine = self.engine.borrow_mut();
        let Some(engine) = engine.as_mut() else { return };
        let first = self.first_picture.get();
        let (superseded, next) = self.queue.borrow_mut().take_next(|question| first.awaits(question));
        for number in superseded {
            self.post(&Report::Superseded(number));
        }
        if let Some((number, question)) = next {
            self.reply(engine, number, &question);
            if first == FirstPicture::Over && matches!(question, Question::GetPicture(_)) {
                self.calm_from_ms.set(js_sys::Date::now() + CALM_MS);
            }
            self.first_picture.set(first.after_answer(&question));
        } else if first == FirstPicture::Awaited {
            return;
        } else if let Some(rest_ms) = self.until_calm() {
            return self.schedule_when_calm(rest_ms);
        } else if engine.prepare() {
            // The next question comes first.
        } else if let Some(report) = engine.next_report() {
            self.post(&report);
            let next = first.after_report(&report);
            if self.first_picture.replace(next) != next {
                let worker = self.clone();
                // Nobody asks for a picture of a tab in the background.
                let give_up = move || {
                    worker.first_picture.set(FirstPicture::Over);
                    worker.schedule();
                };
                Timeout::new(PATIENCE_MS, give_up).forget();
            }
        } else {
            return;
        }
        self.schedule();
    }

    /// Replies to a question, and reports the progress of what takes long.
    fn reply(&self, engine: &mut Engine, number: u32, question: &Question) {
        if let Question::GetPicture(ask) = question {
            return self.reply_picture(engine, number, ask);
        }
        let mut told_ms = js_sys::Date::now();
        let reply = question.reply(engine, &mut |fraction| {
            let now_ms = js_sys::Date::now();
            if now_ms - told_ms >= PROGRESS_MS {
                self.post(&Report::Copying(number, fraction));
                told_ms = now_ms;
            }
        });
        match reply {
            Ok(Reply::Answer(bytes)) => {
                self.transfer(number, &Array::of1(&Uint8Array::from(bytes.as_slice()).buffer()));
            }
            Ok(Reply::File(file)) => self.hand_over(number, &file),
            Err(reason) => self.post(&Report::Refused(number, reason)),
        }
    }

    /// Replies with a picture and, where the browser can make it, its image.
    fn reply_picture(&self, engine: &mut Engine, number: u32, ask: &GetPicture) {
        match engine.answer(ask) {
            Ok(mut picture) => {
                let image = self.images.borrow_mut().take(&mut picture);
                let parts = Array::of1(&to_buffer(&picture));
                image.iter().for_each(|image| {
                    parts.push(image);
                });
                self.transfer(number, &parts);
            }
            Err(reason) => self.post(&Report::Refused(number, reason)),
        }
    }

    /// Sends the parts of an answer to the page without copying them.
    fn transfer(&self, number: u32, parts: &Array) {
        let message = Array::of1(&number.into()).concat(parts);
        self.scope.post_message_with_transfer(&message, parts).expect("the parts can be transferred");
    }

    /// Sends the bytes of a file to the page as a `Blob`, so that the message does not contain them.
    fn hand_over(&self, number: u32, file: &FileBytes) {
        let Ok(blob) = blob(&file.bytes, file.media_type) else {
            return self.post(&Report::Refused(number, "the browser ran out of memory".to_owned()));
        };
        let message = Array::of2(&number.into(), &blob);
        self.scope.post_message(&message).expect("a blob can be handed over");
    }

    fn post(&self, report: &Report) {
        post(&self.scope, report);
    }
}

/// Posts a report; its buffer is transferred to the page, not copied.
fn post(scope: &DedicatedWorkerGlobalScope, report: &Report) {
    transfer(scope, &to_buffer(report));
}

fn transfer(scope: &DedicatedWorkerGlobalScope, report: &ArrayBuffer) {
    scope.post_message_with_transfer(report, &Array::of1(report)).expect("a buffer can be transferred");
}

const HINT_CHECK: &str = "Check that the file is still there and complete, then open it again.";

fn unreadable(message: String) -> Failure {
    Failure::new(message, HINT_CHECK, Remedy::OtherFile)
}

/// Returns the error of a file of which a part was to be read.
fn changed() -> ImportError {
    let message = "The file changed between the first and the second read".to_owned();
    ImportError { code: "", offset: None, message, hint: HINT_CHECK.to_owned() }
}
