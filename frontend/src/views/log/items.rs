//! Small parts of the view of a log.

use shared::base::Severity;
use shared::report::{HOST, LogNotice, NO_DEVICE};
use yew::prelude::*;

/// Names the device of a finding.
pub(super) fn device(device: i64) -> Html {
    let name = match device {
        NO_DEVICE => return Html::default(),
        HOST => "Host".to_owned(),
        _ => format!("GPU {device}"),
    };
    html! { <span class="finding-device">{ name }</span> }
}

pub(super) fn notice(notice: &LogNotice) -> Html {
    let class = if notice.severity == Severity::Info { "hint" } else { "" };
    html! { <li {class}>{ &notice.message }</li> }
}
