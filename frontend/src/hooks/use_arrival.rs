//! Opens what the page's address names: a shared copy, recordings, stored snapshots, or files of `snapscope open`.

use super::use_files::FilesHandle;
use super::view_link::address;
use crate::platform::{ApiError, ApiRequest, api_url, day_text, fragment, site_url};
use crate::state::{Address, LinkFacts, OpenFile, Origin, Start, ThisCard, cuts_text};
use serde::Deserialize;
use shared::api::{ErrorCode, OpenedFile, OpenedFiles, ShareResource};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Part of a job that the viewer reads.
///
/// Parsing the whole resource would add a twentieth to the module's size.
#[derive(Deserialize)]
struct JobHead {
    name: String,
    snapshot_bytes: Option<u64>,
    /// Absent in the answer of an older server.
    #[serde(default)]
    capacity_bytes: Option<u64>,
}

/// Progress of opening what the address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The address names nothing, or everything it names is open.
    Done,
    /// The server was asked and has not answered yet.
    Asking,
    Failed(ArrivalFailure),
}

/// Explanation why nothing could be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivalFailure {
    /// Title of a few words.
    pub title: &'static str,
    /// Sentence that says what happened.
    pub message: String,
    /// Sentence that says what to do.
    pub hint: String,
}

/// Opens what the address names, once.
#[hook]
pub fn use_arrival(files: &FilesHandle) -> Arrival {
    let arrival = use_state_eq(|| Arrival::Done);
    let (files, setter) = (files.clone(), arrival.setter());
    use_effect_with((), move |()| match address() {
        Address::Plain => (),
        Address::Stored(paths) => {
            let start = compared(paths.len());
            for path in paths {
                let name = path.rsplit('/').next().unwrap_or_default().into();
                let file = OpenFile { name, origin: Origin::Site, ..OpenFile::default() };
                files.open_url(file, start.clone(), site_url(&path));
            }
        }
        Address::Link(token) => arrive(setter, async move { open_link(&files, &token).await }),
        Address::Jobs(jobs) => arrive(setter, async move { open_jobs(&files, jobs).await }),
        Address::Files => arrive(setter, async move { open_files(&files).await }),
    });
    (*arrival).clone()
}

fn arrive(setter: UseStateSetter<Arrival>, opened: impl Future<Output = Result<(), ArrivalFailure>> + 'static) {
    setter.set(Arrival::Asking);
    spawn_local(async move {
        setter.set(opened.await.map_or_else(Arrival::Failed, |()| Arrival::Done));
    });
}

async fn open_link(files: &FilesHandle, token: &str) -> Result<(), ArrivalFailure> {
    let share: ShareResource = ApiRequest::get(format!("shares/{token}")).send().await.map_err(link_failure)?;
    let facts = LinkFacts {
        title: share.title.clone(),
        created: day_text(share.created_ms),
        expires: share.expires_ms.map(day_text),
        cuts: cuts_text(&share.view_state),
    };
    // After a reload the address holds the latest view, which takes precedence over the link's.
    let start = fragment().is_none().then(|| Start::of_text(&share.view_state));
    let (name, origin) = (share.title.into(), Origin::Link(Rc::new(facts)));
    files.open_url(
        OpenFile { name, origin, ..OpenFile::default() },
        start,
        api_url(&format!("shares/{token}/snapshot")),
    );
    Ok(())
}

/// View in an address that compares recordings, whichever of them is shown first.
const COMPARED: &str = "v1;dock=compare";

/// Returns the view to start with if the address asks to compare several snapshots.
fn compared(count: usize) -> Option<Start> {
    fragment().filter(|view| count > 1 && view == COMPARED).map(|view| Start::of_text(&view))
}

async fn open_jobs(files: &FilesHandle, jobs: Vec<String>) -> Result<(), ArrivalFailure> {
    let start = compared(jobs.len());
    for id in jobs {
        let job: JobHead = ApiRequest::get(format!("jobs/{id}")).send().await.map_err(job_failure)?;
        if job.snapshot_bytes.is_none() {
            return Err(ArrivalFailure {
                title: "No snapshot yet",
                message: format!("The job {} has no snapshot.", job.name),
                hint: "Wait until the job has finished. If it failed, its page shows the reason.".to_owned(),
            });
        }
        let on_card = Start { card: job.capacity_bytes.map(ThisCard::whole), ..Start::default() };
        let (name, origin) = (job.name.into(), Origin::Site);
        let file = OpenFile { name, origin, start: on_card, ..OpenFile::default() };
        files.open_url(file, start.clone(), api_url(&format!("jobs/{id}/snapshot")));
    }
    Ok(())
}

async fn open_files(files: &FilesHandle) -> Result<(), ArrivalFailure> {
    let listed: OpenedFiles = ApiRequest::get("files").send().await.map_err(files_failure)?;
    for (OpenedFile { name, size_bytes }, number) in listed.files.into_iter().zip(0..) {
        let (name, origin) = (name.into(), Origin::Site);
        let file = OpenFile { name, size_bytes, origin, ..OpenFile::default() };
        files.open_url(file, None, api_url(&format!("files/{number}")));
    }
    Ok(())
}

fn files_failure(error: ApiError) -> ArrivalFailure {
    match error {
        ApiError::NoServer => ArrivalFailure {
            title: "The files are no longer served",
            message: "The command snapscope open has ended.".to_owned(),
            hint: "Run it again, or drop the files on the page.".to_owned(),
        },
        error => failure("The files can't be opened", error),
    }
}

fn link_failure(error: ApiError) -> ArrivalFailure {
    match error {
        error if error.is(ErrorCode::NotFound) => ArrivalFailure {
            title: "This link is no longer valid",
            message: "It was deleted, it has expired, or the address is incomplete.".to_owned(),
            hint: "Ask the person who sent the link for a new one.".to_owned(),
        },
        error => failure("The link can't be opened", error),
    }
}

fn job_failure(error: ApiError) -> ArrivalFailure {
    match error {
        error if error.is(ErrorCode::NotFound) => ArrivalFailure {
            title: "There is no such job",
            message: "It was deleted, or the address is incomplete.".to_owned(),
            hint: "Choose a job from the list of jobs.".to_owned(),
        },
        error => failure("The recording can't be opened", error),
    }
}

fn failure(title: &'static str, error: ApiError) -> ArrivalFailure {
    match error {
        ApiError::NoServer => ArrivalFailure {
            title,
            message: "The server does not respond.".to_owned(),
            hint: "Check the connection, then reload the page.".to_owned(),
        },
        ApiError::Refused(body) => ArrivalFailure { title, message: body.message, hint: body.hint },
    }
}
