//! Pairs of scripts in the gallery: a mistake and its repair, each with a stored recording.

use std::fs;

use serde_json::{Value, json};
use shared::analysis::Timeline;
use shared::base::format;
use testkit::corpus::Sample;
use testkit::laws;
use testkit::mistakes::{recording, script, truths};

use super::outline;

/// Names of a pair's scripts, after the name of the pair.
const ENDS: [&str; 2] = ["_bad", "_good"];

pub(super) struct Pair {
    pub(super) title: String,
    /// Names of the mistake and of the repair.
    pub(super) names: [String; 2],
    /// What the mistake does, and what the repair does instead.
    causes: [String; 2],
}

pub(super) fn pairs() -> Vec<Pair> {
    let truths = truths();
    let text = |name: &str, key: &str| {
        let truth = truths.iter().find(|truth| truth["name"] == name).unwrap_or_else(|| panic!("{name} has no truth"));
        truth[key].as_str().map(str::to_owned)
    };
    let name = |truth: &Value| truth["name"].as_str()?.strip_suffix(ENDS[0]).map(str::to_owned);
    let pair = |name: String| {
        let names = ENDS.map(|end| format!("{name}{end}"));
        let title = text(&names[0], "title")?;
        Some(Pair { title, causes: names.each_ref().map(|name| text(name, "cause").expect("a cause")), names })
    };
    let mut pairs: Vec<Pair> = truths.iter().filter_map(name).filter_map(pair).collect();
    pairs.sort_by(|a, b| a.names.cmp(&b.names));
    pairs
}

impl Pair {
    /// Returns the figures of both recordings, which are checked against the laws.
    pub(super) fn figures(&self) -> [(String, Value); 2] {
        let [mistake, repair] = &self.causes;
        let texts = [format!("{mistake}\nFixed: {repair}"), repair.clone()];
        let titles = [self.title.clone(), format!("{}, fixed", self.title)];
        let changes = [self.change(), Vec::new()];
        let rows = self.names.iter().zip(texts).zip(titles.into_iter().zip(changes));
        let rows = rows.map(|((name, text), (title, change))| {
            let script = json!({ "title": title, "text": text, "change": change });
            (name.clone(), with_script(name, script))
        });
        rows.collect::<Vec<_>>().try_into().expect("two")
    }

    /// Returns the lines that the repair removes and adds, as in a patch; those side by side without common indentation.
    pub(super) fn change(&self) -> Vec<String> {
        let texts = self.names.each_ref().map(|name| script(name));
        let [bad, good] = texts.each_ref().map(|text| text.lines().collect::<Vec<_>>());
        let indent = |line: &str| line.len() - line.trim_start().len();
        let mut lines = Vec::new();
        for hunk in changed(&bad, &good) {
            let common = hunk.iter().map(|(_, line)| indent(line)).min().unwrap_or(0);
            lines.extend(hunk.into_iter().map(|(sign, line)| format!("{sign}{}", &line[common..])));
        }
        lines
    }

    pub(super) fn section(&self, figures: impl Fn(&str) -> Value) -> String {
        let [mistake, repair] = &self.causes;
        let mut text = format!("\n### {}\n\n{mistake}\nFixed: {repair}\n\n", self.title);
        text += &format!("```diff\n{}\n```\n\n", self.change().join("\n"));
        text += "| script | recording | peak live | live at the end | peak reserved | events |\n|---|---|---|---|---|---|\n";
        for name in &self.names {
            let figures = figures(name);
            let bytes = |key: &str| format::bytes(figures[key].as_u64().expect("bytes"));
            let events = format::count(figures["events"].as_u64().expect("a count"));
            let (live, end, reserved) =
                (bytes("peak_live_bytes"), bytes("end_live_bytes"), bytes("peak_reserved_bytes"));
            text += &format!(
                "| [{name}]({name}.py) | [{name}]({name}.pickle.gz) | {live} | {end} | {reserved} | {events} |\n"
            );
        }
        text
    }
}

fn with_script(name: &str, script: Value) -> Value {
    let path = recording(name);
    let bytes = fs::read(&path).expect("a stored recording");
    let trace = laws::hold(&Sample { name: format!("{name}.pickle.gz"), path, bytes });
    let timeline = Timeline::new(&trace, &trace.devices[0]);
    let mut figures = outline(&trace, &timeline);
    figures["script"] = script;
    figures["events"] = json!(trace.devices.iter().map(|device| device.events.len()).sum::<usize>());
    figures["peak_live_bytes"] = json!(timeline.live_peak().1);
    figures["end_live_bytes"] = json!(timeline.live_at(u32::MAX));
    figures["peak_reserved_bytes"] = json!(timeline.reserved_peak().1);
    figures
}

/// Returns each run of lines that differ between two texts, by their longest common subsequence of lines.
fn changed<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Vec<(char, &'a str)>> {
    let mut common = vec![vec![0; new.len() + 1]; old.len() + 1];
    for (row, line) in old.iter().enumerate().rev() {
        for (column, other) in new.iter().enumerate().rev() {
            let longest = common[row + 1][column].max(common[row][column + 1]);
            common[row][column] = if line == other { common[row + 1][column + 1] + 1 } else { longest };
        }
    }
    let (mut row, mut column, mut hunks) = (0, 0, vec![Vec::new()]);
    while row < old.len() || column < new.len() {
        let hunk = hunks.last_mut().expect("one at least");
        if row < old.len() && column < new.len() && old[row] == new[column] {
            (row, column) = (row + 1, column + 1);
            if !hunk.is_empty() {
                hunks.push(Vec::new());
            }
        } else if column == new.len() || row < old.len() && common[row + 1][column] >= common[row][column + 1] {
            hunk.push(('-', old[row]));
            row += 1;
        } else {
            hunk.push(('+', new[column]));
            column += 1;
        }
    }
    hunks
}
