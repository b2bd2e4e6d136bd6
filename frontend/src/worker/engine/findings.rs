//! What was found in a file, in words.

use super::{Engine, Ready, texts};
use crate::worker::{Confidence, Finding, Findings, LookedAt, Severity};
use shared::analysis::{self, FindingsConfig, Study, findings_of};
use shared::base;
use shared::trace::Trace;

/// The findings on all GPUs with memory, whose timelines must have been built.
pub(super) fn findings(engine: &Engine) -> Findings {
    let gpus = (0..engine.trace.devices.len() as u32).filter_map(|position| Some((position, engine.built(position)?)));
    let with_memory = gpus.filter(|(_, ready)| has_memory(*ready));
    let (positions, studies): (Vec<u32>, Vec<Study<'_>>) =
        with_memory.map(|(position, ready)| (position, ready.study())).unzip();
    let found = findings_of(&studies, &FindingsConfig::default());
    let looked_at = positions.iter().zip(&studies).map(|(&device, study)| LookedAt {
        device,
        steps: study.growth.steps as u64,
        growth_bytes: study.growth.bytes_per_step(),
    });
    Findings {
        rows: found.into_iter().map(|found| finding(&engine.trace, found)).collect(),
        looked_at: looked_at.collect(),
    }
}

fn has_memory(ready: Ready<'_>) -> bool {
    ready.timeline.reserved_peak().1 > 0 || ready.timeline.live_peak().1 > 0
}

fn finding(trace: &Trace, found: analysis::Finding) -> Finding {
    let analysis::Finding { code, severity, confidence, device, bytes, title, evidence, advice } = found;
    let analysis::Evidence { shows, events, stacks } = evidence;
    let position = trace.devices.iter().position(|gpu| gpu.index == device).unwrap_or(0);
    Finding {
        code: code.to_owned(),
        severity: match severity {
            base::Severity::Info => Severity::Info,
            base::Severity::Warning => Severity::Warning,
            base::Severity::Error => Severity::Error,
        },
        confidence: match confidence {
            analysis::Confidence::Low => Confidence::Low,
            analysis::Confidence::Medium => Confidence::Medium,
            analysis::Confidence::High => Confidence::High,
        },
        device: position as u32,
        bytes,
        title,
        shows,
        advice,
        events,
        stacks: stacks.iter().map(|&stack| texts::frames(trace, stack)).collect(),
    }
}
