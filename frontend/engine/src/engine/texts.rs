//! Converts parts of the model to text.

use frontend::ask::{Notice, SettingText};
use shared::base::Diagnostic;
use shared::trace::{Container, Encoding, Format, Setting, Settings};

pub(super) fn format(format: Format) -> String {
    let encoding = match format.encoding {
        Encoding::Pickle(protocol) => format!("pickle protocol {protocol}"),
        Encoding::Json => "JSON".to_owned(),
    };
    match format.container {
        Container::Raw => encoding,
        Container::Gzip => format!("{encoding} in gzip"),
        Container::Html => format!("{encoding} in an HTML page"),
    }
}

/// Converts diagnostics to notices, worst first; `device` is the CUDA index of the device that they concern.
pub(super) fn notices(diagnostics: &[Diagnostic], device: Option<i64>) -> Vec<Notice> {
    let notice = |diagnostic: &Diagnostic| Notice {
        code: diagnostic.code.to_owned(),
        severity: diagnostic.severity.name().to_owned(),
        count: diagnostic.count,
        device,
        message: diagnostic.message.clone(),
    };
    let mut notices: Vec<_> = diagnostics.iter().map(notice).collect();
    sort_notices(&mut notices);
    notices
}

/// Sorts notices by severity, worst first.
pub(super) fn sort_notices(notices: &mut [Notice]) {
    let rank = |notice: &Notice| match notice.severity.as_str() {
        "error" => 0,
        "warning" => 1,
        _ => 2,
    };
    notices.sort_by_key(rank);
}

pub(super) fn settings(settings: &Settings) -> Vec<SettingText> {
    let text = |(name, value): &(String, Setting)| SettingText { name: name.clone(), value: value.to_string() };
    settings.entries.iter().map(text).collect()
}
