//! Buttons that save the report on a log.

use crate::components::buttons::{ExportButton, Making};
use crate::platform::{png_of, text_blob};
use crate::state::Scheme;
use crate::views::export::model::file_name;
use shared::export::LogForm;
use shared::report::LogReport;
use std::rc::Rc;
use yew::prelude::*;

/// Pixels of a PNG per CSS pixel of the charts, in each direction.
const PNG_SCALE: f64 = 2.0;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct SaveButtonsProps {
    pub(super) name: AttrValue,
    pub(super) report: Rc<LogReport>,
    pub(super) scheme: Scheme,
}

/// Shows a button for each form in which the report can be saved.
#[component]
pub(super) fn SaveButtons(props: &SaveButtonsProps) -> Html {
    let has_curves = !props.report.curves.is_empty();
    let forms = LogForm::ALL.into_iter().filter(|form| has_curves || !form.needs_curves());
    html! {
        <div class="log-save" role="group" aria-label="Save the report">
            { for forms.map(|form| button(props, form)) }
        </div>
    }
}

fn button(props: &SaveButtonsProps, form: LogForm) -> Html {
    let SaveButtonsProps { name, report, scheme } = props.clone();
    let make = {
        let name = name.clone();
        Callback::from(move |()| -> Making {
            let (text, media_type) = form.text(&name, &report, scheme.theme());
            Box::pin(async move {
                let file = text_blob(&text, media_type).map_err(|_| "the browser ran out of memory".to_owned())?;
                match form {
                    LogForm::Png => {
                        png_of(&file, PNG_SCALE).await.map_err(|_| "the browser can’t draw the picture".to_owned())
                    }
                    _ => Ok(file),
                }
            })
        })
    };
    let title = match form {
        LogForm::Html => "Save the report as one page (HTML)",
        LogForm::Svg => "Save the charts as SVG",
        LogForm::Png => "Save the charts as PNG",
        LogForm::Csv => "Save the curves as CSV",
        LogForm::Json => "Save the report as JSON",
        LogForm::Markdown => "Save findings and tables as Markdown",
    };
    let name = file_name(&name, false, &format!("-report.{}", form.ending()));
    html! { <ExportButton key={form.name()} label={form.label()} {title} {name} {make} /> }
}
