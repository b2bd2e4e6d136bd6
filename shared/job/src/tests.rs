//! Tests that keep `docs/configs.md` in step with the schema.

use std::collections::BTreeSet;

use super::model::FAMILIES;
use super::raw::RawSelected;
use super::resolve::keys_of;
use super::{
    Card, CnnLayer, Model, RawData, RawEvaluation, RawJob, RawLora, RawLoss, RawOptimizer, RawParallel, RawSweep,
};

const REFERENCE: &str = include_str!("../../../docs/configs.md");

/// Returns the rows of the table below a heading, split into cells.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let start = REFERENCE.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no heading {heading}"));
    let lines = REFERENCE[start..].lines().skip(2).skip_while(|line| !line.starts_with('|'));
    let rows = lines.take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

fn keys(heading: &str) -> Vec<&'static str> {
    rows(heading).iter().map(|row| row[0].trim_matches('`')).collect()
}

/// Checks that each default of a table is what the key resolves to; `none` is a key that stays unset.
#[track_caller]
fn check_defaults(heading: &str, config: &str, table: Option<&str>) {
    let json = RawJob::from_toml(config).unwrap().resolve().unwrap().to_json();
    let document = serde_json::from_str::<serde_json::Value>(&json).unwrap();
    let table = table.map_or(&document, |table| &document[table]);
    for row in rows(heading) {
        let [key, _, default, _] = row.as_slice() else { panic!("{heading}: {row:?}") };
        let actual = &table[key.trim_matches('`')];
        if *default == "none" {
            assert!(actual.is_null(), "{key} is {actual}");
        } else if let Some(literal) = default.strip_prefix('`').and_then(|rest| rest.split('`').next())
            && let Ok(documented) = serde_json::from_str::<serde_json::Value>(literal)
        {
            assert!(same(&documented, actual), "{key}: documented {documented}, actual {actual}");
        }
    }
}

/// Compares values; numbers are equal if 1 and 1.0 are.
fn same(a: &serde_json::Value, b: &serde_json::Value) -> bool {
    a == b || a.as_f64().is_some_and(|a| Some(a) == b.as_f64())
}

#[test]
fn every_key_has_a_row() {
    assert_eq!(keys("## The job"), RawJob::KEYS);
    assert_eq!(keys("## The optimizer"), RawOptimizer::KEYS);
    assert_eq!(keys("## Checkpointing"), RawSelected::KEYS);
    assert_eq!(keys("## The loss"), RawLoss::KEYS);
    assert_eq!(keys("## The adapters"), RawLora::KEYS);
    assert_eq!(keys("## The data"), RawData::KEYS);
    assert_eq!(keys("## The evaluation"), RawEvaluation::KEYS);
    assert_eq!(keys("## Several devices"), RawParallel::KEYS);
    assert_eq!(keys("## The sweep"), RawSweep::KEYS);
    // Those of a family stand in any order.
    for (name, family) in FAMILIES {
        let keys: BTreeSet<_> = keys(&format!("### `{name}`")).into_iter().collect();
        assert_eq!(keys, keys_of(*family).into_iter().collect(), "{name}");
    }
    let layers = keys("#### Layers of a `cnn`").into_iter().filter_map(|form| form.split(' ').next());
    assert_eq!(layers.collect::<Vec<_>>(), CnnLayer::names().collect::<Vec<_>>());
}

#[test]
fn defaults_are_as_documented() {
    check_defaults("## The job", "model = 'gpt2'", None);
    check_defaults("## The optimizer", "model = 'gpt2'", Some("optimizer"));
    check_defaults("## Checkpointing", "model = 'gpt2'\ncheckpointing = { keep = 'nothing' }", Some("checkpointing"));
    check_defaults("## The loss", "model = 'gpt2'\nloss = {}", Some("loss"));
    check_defaults("## The adapters", "model = 'gpt2'\nlora = {}", Some("lora"));
    check_defaults("## The data", "model = 'gpt2'", Some("data"));
    check_defaults("## The evaluation", "model = 'gpt2'\nevaluation = {}", Some("evaluation"));
    for (name, _) in FAMILIES {
        check_defaults(&format!("### `{name}`"), &format!("model = {{ family = '{name}' }}"), Some("model"));
    }
}

#[test]
fn limits_are_as_documented() {
    let tables = [
        ("## The job", ""),
        ("## Checkpointing", "checkpointing."),
        ("## The loss", "loss."),
        ("## The adapters", "lora."),
        ("## The data", "data."),
        ("## The evaluation", "evaluation."),
        ("## Several devices", "parallel."),
    ];
    let tables = tables.map(|(heading, table)| (heading.to_owned(), table));
    for (heading, table) in
        tables.into_iter().chain(FAMILIES.iter().map(|(name, _)| (format!("### `{name}`"), "model.")))
    {
        for row in rows(&heading) {
            let bounds = row[1].split_once(" to ").map(|(least, most)| (number(least), number(most)));
            let Some((Some(least), Some(most))) = bounds else { continue };
            let path = format!("{table}{}", row[0].trim_matches('`'));
            if most > 1 {
                assert_eq!(super::bounds(&path), Some(least..=most), "{path}");
            }
        }
    }
}

fn number(text: &str) -> Option<u64> {
    text.replace(',', "").parse().ok()
}

#[test]
fn presets_and_cards_are_as_documented() {
    let figures = |name| (Model::preset(name).unwrap().parameters(), Model::preset_source(name).unwrap());
    let presets = Model::presets().map(|name| (name, figures(name)));
    let documented = rows("## The model")
        .into_iter()
        .map(|row| (row[0].trim_matches('`'), (number(row[1]).unwrap(), row[2].trim_matches('`'))));
    assert_eq!(presets.collect::<Vec<_>>(), documented.collect::<Vec<_>>());

    let cards = Card::named_cards().into_iter();
    let cards = cards.map(|card| (card.name, card.memory_bytes >> 20, card.capability.to_string()));
    let documented = rows("## Cards")
        .into_iter()
        .map(|row| (row[0].trim_matches('`').to_owned(), number(row[1]).unwrap(), row[2].to_owned()));
    assert_eq!(cards.collect::<Vec<_>>(), documented.collect::<Vec<_>>());
}

#[test]
fn the_examples_are_jobs() {
    let blocks = REFERENCE.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let jobs = blocks.map(|block| RawJob::from_toml(block).unwrap().resolve().unwrap()).collect::<Vec<_>>();
    assert_eq!(jobs.len(), 2);
}
