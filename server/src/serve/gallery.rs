//! Reads the gallery of example configs next to the built page.

use std::collections::{HashMap, HashSet};
use std::io;

use serde::Deserialize;
use shared::api::GalleryRow;
use shared::job::RawJob;

use crate::built_pages::BuiltPages;
use crate::failure::Failure;

/// Suffix of the name of a repaired config, after the name of the faulty one.
const REPAIRED: &str = "-repaired";

/// Figures of a recorded config, from `figures.json`.
#[derive(Deserialize)]
struct Figures {
    events: u64,
    peak_allocated_bytes: u64,
    peak_reserved_bytes: u64,
    /// Empty in galleries of versions without curves.
    #[serde(default)]
    live_curve: Vec<u64>,
    #[serde(default)]
    reserved_curve: Vec<u64>,
}

/// Configs under one heading, from `topics.json`; both are in the order in which the page shows them.
#[derive(Deserialize)]
struct Topic {
    title: String,
    /// Names of the configs; a repaired one belongs to the faulty one.
    configs: Vec<String>,
}

/// Returns the topic of each listed config and its position in the list.
fn places(topics: &[Topic]) -> HashMap<&str, (u64, &str)> {
    let listed = topics.iter().flat_map(|topic| topic.configs.iter().map(|name| (name.as_str(), topic.title.as_str())));
    (0..).zip(listed).map(|(place, (name, title))| (name, (place, title))).collect()
}

/// Reads the gallery of a built page, ordered by name; empty if the page has none.
///
/// # Errors
///
/// Returns an error if a file cannot be read or is not a valid part of the gallery.
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
    // Galleries of versions without topics have no such file.
    let topics = pages.read("gallery/topics.json")?;
    let topics: Vec<Topic> = topics.map_or(Ok(Vec::new()), |text| serde_json::from_slice(&text))?;
    let places = places(&topics);
    let mut rows = Vec::new();
    let names: HashSet<String> = figures.keys().cloned().collect();
    for (name, figures) in figures {
        let no_config = || io::Error::other(format!("{name}.toml is not a config"));
        let config = pages.read(&format!("gallery/{name}.toml"))?.ok_or_else(no_config)?;
        let config = String::from_utf8(config.to_vec()).map_err(|_| no_config())?;
        let job = RawJob::from_toml(&config).map_err(|_| no_config())?;
        let text = config.lines().map_while(|line| line.strip_prefix("# ")).collect::<Vec<_>>().join("\n");
        let repair = Some(format!("{name}{REPAIRED}")).filter(|repair| names.contains(repair));
        let (place, topic) =
            places.get(name.strip_suffix(REPAIRED).unwrap_or(&name)).copied().unwrap_or((u64::MAX, ""));
        rows.push(GalleryRow {
            topic: topic.to_owned(),
            place,
            title: job.name.unwrap_or_else(|| name.clone()),
            name,
            text,
            config,
            repair,
            // Each point of the curve is the maximum of its part, so the maximum of all points is the peak.
            peak_live_bytes: figures.live_curve.iter().copied().max().unwrap_or(figures.peak_allocated_bytes),
            peak_allocated_bytes: figures.peak_allocated_bytes,
            peak_reserved_bytes: figures.peak_reserved_bytes,
            events: figures.events,
            live_curve: figures.live_curve,
            reserved_curve: figures.reserved_curve,
        });
    }
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(rows)
}
