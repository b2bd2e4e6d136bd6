//! Answers what would have happened under other settings or on another GPU.

use serde_json::json;
use shared::api::OfFile;

use super::question::question;
use crate::Failure;
use crate::commands::ReplayArgs;
use crate::commands::mcp::answer::Answer;
use crate::commands::mcp::options::ReplayOptions;
use crate::commands::mcp::shelf::Shelf;
use crate::commands::mcp::words::Words;
use crate::commands::replay::page;

pub(in crate::commands::mcp) fn replay(shelf: &Shelf, options: &ReplayOptions) -> Result<Answer, Failure> {
    let ReplayOptions { snapshot, capacity, .. } = options;
    let args: ReplayArgs = Words::of(options, &["snapshot"]).last([snapshot]).read()?;
    let opened = shelf.snapshot(snapshot)?;
    let report = args.report(&opened)?;
    let (fits, is_sweep) = (report.ooms.is_empty(), report.sweep.is_some());
    let best = report.sweep.as_ref().and_then(|sweep| sweep.best.clone()).filter(|best| !best.is_empty());
    let mut answer = Answer::new(page(&opened, &report), &OfFile::new(snapshot, report));
    if let Some(best) = best {
        let parameters = json!({ "snapshot": snapshot, "settings": best, "capacity": capacity });
        answer = answer.then(question("replay", &parameters, "the best settings alone"));
    }
    Ok(answer
        .then_if(!is_sweep, || {
            let parameters = json!({ "snapshot": snapshot, "capacity": capacity, "sweep": true });
            question("replay", &parameters, "which settings and which GPU are best")
        })
        .then_if(!fits, || question("peak", &json!({ "snapshot": snapshot }), "what to make smaller"))
        .then_if(fits, || {
            "run {\"command\": [\"python\", …], \"card\": …}: proves it with the program itself".to_owned()
        }))
}
