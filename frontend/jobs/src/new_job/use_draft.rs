//! Hook for the config of a new job and its starting text.

use super::model::draft::{Draft, DraftAction};
use super::model::sources::TextFile;
use crate::common::model::route::{Change, Start};
use crate::common::use_fetched::{Fetched, use_fetched};
use frontend::platform::{ApiError, brought_config};
use shared::api::{GalleryRow, JobDetails};
use std::rc::Rc;
use yew::prelude::*;

/// [`Draft`] as the state of a yew reducer.
#[derive(Default, PartialEq)]
struct Model(Rc<Draft>);

impl Reducible for Model {
    type Action = DraftAction;

    fn reduce(self: Rc<Self>, action: DraftAction) -> Rc<Self> {
        Rc::new(Self(Rc::new(self.0.after(action))))
    }
}

/// Draft with its dispatcher.
pub(crate) struct DraftHandle {
    model: UseReducerHandle<Model>,
    error: Option<ApiError>,
}

impl DraftHandle {
    pub(crate) fn draft(&self) -> Rc<Draft> {
        Rc::clone(&self.model.0)
    }

    /// Returns a callback that changes the draft.
    pub(crate) fn dispatch(&self) -> Callback<DraftAction> {
        let dispatcher = self.model.dispatcher();
        Callback::from(move |action| dispatcher.dispatch(action))
    }

    /// Returns why the config to start with could not be loaded.
    pub(crate) fn error(&self) -> Option<ApiError> {
        self.error.clone()
    }
}

fn once<T>(_: &Fetched<T>) -> Option<u32> {
    None
}

/// Returns the draft of a new job, loaded from what `start` names.
///
/// That is the example, a config of the gallery, the config of another job, or a file that was dropped on the viewer;
/// `change` is applied to it.
#[hook]
pub(crate) fn use_draft(start: &Start, change: Change) -> DraftHandle {
    let model = use_reducer_eq(Model::default);
    let (gallery, job) = match start {
        Start::Example | Start::Brought => (None, None),
        Start::Gallery(_) => (Some("gallery".to_owned()), None),
        Start::Job(id) => (None, Some(format!("jobs/{id}"))),
    };
    let gallery = use_fetched::<Vec<GalleryRow>>(gallery, once);
    let job = use_fetched::<JobDetails>(job, once);
    let dispatcher = model.dispatcher();
    use_effect_with((start.clone(), gallery.now.answer.clone(), job.now.answer.clone()), move |(start, rows, job)| {
        if let (Start::Gallery(name), Some(rows)) = (start, rows)
            && let Some(config) = rows.iter().find(|row| row.name == *name).and_then(|row| row.config.clone())
        {
            dispatcher.dispatch(DraftAction::Load(config));
        }
        if let (Start::Brought, Some((name, text))) = (start, brought_config()) {
            dispatcher.dispatch(DraftAction::Bring(vec![TextFile { name, text }]));
        }
        if let Some(JobDetails { job, source, .. }) = job.as_deref() {
            let (card, steps, task) = (job.card.clone(), job.steps, job.task);
            dispatcher.dispatch(DraftAction::Again { source: source.clone(), card, steps, task });
        }
        dispatcher.dispatch(DraftAction::Change(change));
    });
    let error = gallery.now.error.clone().or_else(|| job.now.error.clone());
    DraftHandle { model, error }
}
