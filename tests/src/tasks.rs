//! Carries out tasks that people have with snapshots, and counts clicks and seconds until the answer is in sight.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::browser::{Browser, Spot};
use crate::patience::PATIENCE;

const PAUSE: Duration = Duration::from_millis(10);

/// Returns true if the smallest element with a text is in the window as it was opened, and nothing covers it.
const IS_IN_SIGHT: &str = "
    const [text] = arguments;
    const tidied = (element) => element.innerText?.replace(/\\s+/g, ' ') ?? '';
    const inner = (element) => [...element.children].find((child) => tidied(child).includes(text));
    let element = tidied(document.body).includes(text) ? document.body : null;
    for (let next = element; next; next = inner(next)) element = next;
    if (!element) return false;
    const box = element.getBoundingClientRect();
    const isInside = box.width > 0 && box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
    const hit = document.elementFromPoint(box.left + Math.min(box.width, 20) / 2, box.top + Math.min(box.height, 12) / 2);
    return isInside && (element.contains(hit) || hit?.contains(element) === true);";

/// Returns true if anything was scrolled down.
const IS_SCROLLED: &str = "[...document.querySelectorAll('*')].some((element) => element.scrollTop > 0)";

#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// Click on the element with this role and name.
    Click(&'static str, &'static str),
    /// Choice of the entry that starts with the second text in the select box with the first one as its name.
    Choose(&'static str, &'static str),
    /// Click on a point of the timeline.
    Plot(Spot),
}

impl Act {
    /// Returns the number of clicks: opening a select box is one, choosing an entry another.
    pub fn clicks(self) -> u32 {
        match self {
            Self::Click(..) | Self::Plot(_) => 1,
            Self::Choose(..) => 2,
        }
    }

    fn perform(self, browser: &Browser) {
        match self {
            Self::Click(role, name) => browser.role(role, name).click(),
            Self::Choose(name, entry) => browser.role("combobox", name).choose(entry),
            Self::Plot(spot) => {
                // A click on what is still being laid out would meet something else.
                let plot = browser.find("[data-timeline]");
                plot.wait_until("it.dataset.settled === 'true'");
                plot.drag(spot, spot);
            }
        }
    }
}

/// Question, with the gestures that lead to its answer.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    pub question: &'static str,
    pub acts: &'static [Act],
    pub answer: &'static str,
    pub most_clicks: u32,
}

/// Effort until an answer was in sight.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    pub clicks: u32,
    pub seconds: f64,
}

impl Task {
    /// Opens files in an empty page and carries out the gestures as soon as the page takes them.
    ///
    /// # Errors
    ///
    /// Returns a sentence if the answer does not appear, if something was scrolled,
    /// or if there are more clicks than there may be.
    pub fn carry_out(&self, browser: &Browser, files: &[PathBuf]) -> Result<Effort, String> {
        let files: Vec<_> = files.iter().map(PathBuf::as_path).collect();
        let start = Instant::now();
        browser.choose(&files);
        self.acts.iter().for_each(|act| act.perform(browser));
        let asked = Instant::now();
        while browser.run(IS_IN_SIGHT, vec![json!(self.answer)]) != json!(true) {
            if asked.elapsed() > PATIENCE {
                let picture = browser.screenshot("not-in-sight");
                return Err(format!("“{}” is not in sight, see {}", self.answer, picture.display()));
            }
            std::thread::sleep(PAUSE);
        }
        let seconds = start.elapsed().as_secs_f64();
        if browser.value(IS_SCROLLED) == json!(true) {
            return Err("something had to be scrolled".to_owned());
        }
        let clicks = self.acts.iter().map(|act| act.clicks()).sum();
        match clicks > self.most_clicks {
            true => Err(format!("{clicks} clicks instead of {}", self.most_clicks)),
            false => Ok(Effort { clicks, seconds }),
        }
    }
}
