//! What was found in a file, in words.

use super::{Engine, Ready, texts};
use crate::worker::{Confidence, Finding, Findings, GrowthKind, GrowthRow, LookedAt, Severity};
use shared::analysis::{self, ClassTotal, FindingsConfig, GrowthClass, RunKind, Study, findings_of, recorded_capacity};
use shared::base;
use shared::trace::Trace;

/// The findings on all GPUs with memory, whose timelines must have been built; on the card that was chosen last.
pub(super) fn findings(engine: &Engine) -> Findings {
    let gpus = (0..engine.trace.devices.len() as u32).filter_map(|position| Some((position, engine.built(position)?)));
    let with_memory = gpus.filter(|(_, ready)| has_memory(*ready));
    let (positions, studies): (Vec<u32>, Vec<Study<'_>>) =
        with_memory.map(|(position, ready)| (position, ready.study())).unzip();
    let config = FindingsConfig { capacity_bytes: engine.capacity_bytes, ..FindingsConfig::default() };
    let found = findings_of(&engine.trace, &studies, &config);
    let looked_at = positions.iter().zip(&studies).map(|(&device, study)| LookedAt {
        device,
        run: study.kind.words().to_owned(),
        is_training: study.kind == RunKind::Training,
        steps: study.growth.steps as u64,
        growth_bytes: study.growth.bytes_per_step(),
        growth: study.growth.by_class().iter().map(growth_row).collect(),
        recorded_capacity_bytes: recorded_capacity(study.device, study.timeline),
    });
    Findings {
        rows: found.into_iter().map(|found| finding(&engine.trace, found)).collect(),
        looked_at: looked_at.collect(),
    }
}

fn growth_row(total: &ClassTotal) -> GrowthRow {
    let ClassTotal { class, bytes_per_step, end_bytes, groups, first_rise, last_rise, .. } = *total;
    let kind = match class {
        GrowthClass::Leak => GrowthKind::Leak,
        GrowthClass::OptimizerState => GrowthKind::OptimizerState,
        GrowthClass::WarmUp => GrowthKind::WarmUp,
        GrowthClass::Cache => GrowthKind::Cache,
        GrowthClass::OneOff => GrowthKind::OneOff,
    };
    GrowthRow { kind, bytes_per_step, end_bytes, groups, first_rise, last_rise }
}

fn has_memory(ready: Ready<'_>) -> bool {
    ready.timeline.reserved_peak().1 > 0 || ready.timeline.live_peak().1 > 0
}

fn finding(trace: &Trace, found: analysis::Finding) -> Finding {
    let analysis::Finding { code, severity, confidence, device, bytes, title, evidence, advice, .. } = found;
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
