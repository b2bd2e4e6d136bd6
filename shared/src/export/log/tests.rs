//! Tests of saved logs.

use super::{LogForm, log_picture};
use crate::draw::op::Op;
use crate::draw::theme::Theme;
use crate::log::LogReader;
use crate::report::{LogReport, log_report};

/// Returns the report on a loop in which `train <b>.py` climbs, and on an out-of-memory error.
fn report() -> LogReport {
    let mut text = "MemTotal: 8000000 kB\n".to_owned();
    for second in 0..40 {
        let rss = 100_000 + second * 20_000;
        text += &format!("2026-11-23 10:00:{second:02}\nml 17 99.5 9.9 9876543 {rss} pts/0 Rl+ 10:12 0:{second:02} ");
        text += "python train_<b>.py\n";
    }
    text += "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 6.50 GiB already \
             allocated; 1.00 GiB free; 6.60 GiB reserved in total by PyTorch)\n";
    let mut reader = LogReader::default();
    reader.push(text.as_bytes());
    log_report(&reader.finish())
}

fn saved(form: LogForm) -> String {
    form.text("a<b>|c.log", &report(), &Theme::light()).0
}

#[test]
fn all_forms_have_the_findings_or_the_curves() {
    let found = report().diagnosis.findings;
    let climbs = found.iter().find(|one| one.code == crate::analysis::FindingCode::HostMemoryClimbs).unwrap();
    let title = &climbs.title;
    assert!(saved(LogForm::Html).contains(&title.replace('<', "&lt;").replace('>', "&gt;")), "{title}");
    assert!(saved(LogForm::Json).contains(&format!("\"title\": \"{title}\"")));
    let markdown = title.replace('<', "&lt;").replace('_', "\\_");
    assert!(saved(LogForm::Markdown).contains(&format!("**warning: {markdown}**")), "{}", saved(LogForm::Markdown));
    let csv = saved(LogForm::Csv);
    assert_eq!(csv.lines().next(), Some("quantity,series,time,time_us,bytes"));
    assert!(
        csv.contains("RSS,\"python train_<b>.py, process 17\",2026-11-23 10:00:39,1795428039000000,901120000"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 41);
}

#[test]
fn texts_of_the_log_are_no_markup() {
    for form in [LogForm::Html, LogForm::Svg] {
        let text = saved(form);
        assert!(text.contains("a&lt;b&gt;") && !text.contains("<b>|") && !text.contains("_<b>"), "{form:?}");
    }
    let page = saved(LogForm::Html);
    assert!(!page.contains("<script") && !page.contains("href=") && page.contains("class=\"bars\""), "{page}");
    assert!(!saved(LogForm::Markdown).contains("<b>"));
}

#[test]
fn a_picture_has_each_chart_with_its_key() {
    let sketch = log_picture("a.log", &report(), &Theme::dark());
    let texts =
        sketch.ops.iter().filter_map(|op| if let Op::Text { text, .. } = op { Some(text.as_str()) } else { None });
    let texts: Vec<&str> = texts.collect();
    assert!(texts.iter().any(|text| text.starts_with("RSS over 39")), "{texts:?}");
    assert!(texts.contains(&"python train_<b>.py, process 17"), "{texts:?}");
}
