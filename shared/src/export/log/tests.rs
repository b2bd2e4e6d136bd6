//! Tests of saved logs.

use super::{LogForm, log_picture};
use crate::analysis::FindingCode;
use crate::base::Severity;
use crate::draw::{Op, Theme};
use crate::report::{
    Diagnosis, Finding, HOST, LogCell, LogCurves, LogLimit, LogOwner, LogOwners, LogReport, LogSeries, LogTable,
};

const TITLE: &str = "Host memory of train_<b>.py climbs by 2.00 GiB";

/// Returns the report on a program whose name is markup.
fn report() -> LogReport {
    let [title, shows, advice] = [TITLE, "It rises.", "Append `loss.item()` to a list[int]."].map(str::to_owned);
    let stated = Finding::stated(FindingCode::HostMemoryClimbs, HOST, 2 << 30, title, shows, advice);
    let finding = Finding { severity: Severity::Warning, ..stated };
    let curves = LogCurves {
        quantity: "RSS".to_owned(),
        is_stacked: true,
        has_dates: true,
        has_times: true,
        times_us: (0..40).map(|second| (1_795_448_812 + second) * 1_000_000).collect(),
        series: vec![LogSeries {
            name: "train_<b>.py, process 17".to_owned(),
            bytes: (0..40).map(|second| second << 20).collect(),
        }],
        limit: Some(LogLimit { name: "Memory of the machine".to_owned(), bytes: 64 << 20 }),
        ..LogCurves::default()
    };
    let owner = |name: &str, bytes| LogOwner { name: name.to_owned(), bytes };
    LogReport {
        title: "Host memory, ps".to_owned(),
        facts: vec!["the machine has 64.0 MiB".to_owned()],
        curves: vec![curves],
        owners: vec![LogOwners {
            title: "GPU 0".to_owned(),
            capacity_bytes: 8 << 30,
            parts: vec![owner("tensors", 6 << 30), owner("free", 2 << 30)],
        }],
        diagnosis: Diagnosis { findings: vec![finding], ..Diagnosis::default() },
        tables: vec![LogTable {
            title: "Processes".to_owned(),
            columns: ["Command", "Highest"].map(str::to_owned).to_vec(),
            rows: vec![vec![LogCell::Text("a | <b>".to_owned()), LogCell::Bytes(1 << 30)]],
            left_out: 2,
        }],
        notices: Vec::new(),
    }
}

fn saved(form: LogForm) -> String {
    form.text("a<b>|c.log", &report(), &Theme::light()).0
}

#[test]
fn all_forms_have_the_findings_or_the_curves() {
    assert!(saved(LogForm::Html).contains("train_&lt;b&gt;.py climbs by 2.00 GiB"));
    assert!(saved(LogForm::Json).contains(&format!("\"title\": \"{TITLE}\"")));
    let markdown = saved(LogForm::Markdown);
    for part in [
        "**warning: Host memory of train\\_&lt;b>.py climbs by 2.00 GiB**",
        "1. Append `loss.item()` to a list\\[int\\].",
        "| tensors | 6.00 GiB |",
        "| a \\| &lt;b> | 1.00 GiB |",
        "2 more rows are not listed",
    ] {
        assert!(markdown.contains(part), "{part} in {markdown}");
    }
    let csv = saved(LogForm::Csv);
    assert_eq!(csv.lines().next(), Some("quantity,series,time,time_us,bytes"));
    assert!(
        csv.ends_with("RSS,\"train_<b>.py, process 17\",2026-11-23 15:47:31,1795448851000000,40894464\r\n"),
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
    let text = |op: &Op| if let Op::Text { text, .. } = op { Some(text.clone()) } else { None };
    let texts: Vec<String> = sketch.ops.iter().filter_map(text).collect();
    assert!(texts.iter().any(|text| text.starts_with("RSS over 39")), "{texts:?}");
    assert!(texts.contains(&"train_<b>.py, process 17".to_owned()), "{texts:?}");
    assert!(texts.contains(&"Memory of the machine, 64.0 MiB".to_owned()), "{texts:?}");
}
