//! Reads the gallery next to the built page: configs to record, and scripts with their recordings.

use std::collections::HashMap;
use std::io;

use serde::Deserialize;
use shared::api::GalleryRow;
use shared::job::RawJob;

use crate::built_pages::BuiltPages;
use crate::failure::Failure;

/// Ends of the names of a script with a mistake and of its repair.
const PAIR: [&str; 2] = ["_bad", "_good"];

/// Figures of a recording, from `figures.json`.
#[derive(Deserialize)]
struct Figures {
    /// `None` for a config, whose file has the texts.
    script: Option<Texts>,
    events: u64,
    peak_reserved_bytes: u64,
    live_curve: Vec<u64>,
    reserved_curve: Vec<u64>,
}

#[derive(Deserialize)]
struct Texts {
    title: String,
    text: String,
    change: Vec<String>,
}

/// Configs and scripts under one heading, from `topics.json`, in the order in which the page shows them.
#[derive(Deserialize)]
struct Topic {
    title: String,
    /// Names without those of repairs, which belong to their mistakes.
    names: Vec<String>,
}

/// Returns the topic of each listed name and its position in the list.
fn places(topics: &[Topic]) -> HashMap<&str, (u64, &str)> {
    let listed = topics.iter().flat_map(|topic| topic.names.iter().map(|name| (name.as_str(), topic.title.as_str())));
    (0..).zip(listed).map(|(place, (name, title))| (name, (place, title))).collect()
}

/// Reads the gallery of a built page, ordered by name; empty if the page has none.
pub(super) fn load(pages: &BuiltPages) -> Result<Vec<GalleryRow>, Failure> {
    read(pages).map_err(|error| {
        Failure::new(
            format!("the gallery of the web pages in {pages} cannot be read: {error}"),
            "run `./dev build` again, and check the permissions of that folder",
        )
    })
}

fn read(pages: &BuiltPages) -> io::Result<Vec<GalleryRow>> {
    let Some(figures) = pages.read("gallery/figures.json")? else { return Ok(Vec::new()) };
    let figures: HashMap<String, Figures> = serde_json::from_slice(&figures)?;
    let topics = pages.read("gallery/topics.json")?.ok_or_else(|| io::Error::other("topics.json is missing"))?;
    let topics: Vec<Topic> = serde_json::from_slice(&topics)?;
    let places = places(&topics);
    let mut rows = Vec::new();
    for (name, figures) in figures {
        let mistake = name.strip_suffix(PAIR[1]).map(|pair| format!("{pair}{}", PAIR[0]));
        let (place, topic) = places.get(mistake.as_deref().unwrap_or(&name)).copied().unwrap_or((u64::MAX, ""));
        let (config, Texts { title, text, change }) = match figures.script {
            Some(script) => (None, script),
            None => config(pages, &name).map(|(config, texts)| (Some(config), texts))?,
        };
        rows.push(GalleryRow {
            topic: topic.to_owned(),
            place,
            title,
            text,
            config,
            repair: name.strip_suffix(PAIR[0]).map(|pair| format!("{pair}{}", PAIR[1])),
            change,
            name,
            // Each point of the curve is the maximum of its part, so the maximum of all points is the peak.
            peak_live_bytes: figures.live_curve.iter().copied().max().unwrap_or(0),
            peak_reserved_bytes: figures.peak_reserved_bytes,
            events: figures.events,
            live_curve: figures.live_curve,
            reserved_curve: figures.reserved_curve,
        });
    }
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(rows)
}

/// Reads a config, with its name as the title and the comment at its head as the text.
fn config(pages: &BuiltPages, name: &str) -> io::Result<(String, Texts)> {
    let no_config = || io::Error::other(format!("{name}.toml is not a config"));
    let config = pages.read(&format!("gallery/{name}.toml"))?.ok_or_else(no_config)?;
    let config = String::from_utf8(config.to_vec()).map_err(|_| no_config())?;
    let job = RawJob::from_toml(&config).map_err(|_| no_config())?;
    let text = config.lines().map_while(|line| line.strip_prefix("# ")).collect::<Vec<_>>().join("\n");
    let title = job.name.unwrap_or_else(|| name.to_owned());
    Ok((config, Texts { title, text, change: Vec::new() }))
}
