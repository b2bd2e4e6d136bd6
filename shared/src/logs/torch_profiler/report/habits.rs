//! Reports what a profiled program does again in each step, in words.

use crate::analysis::{Confidence, FindingCode};
use crate::base::format;
use crate::logs::torch_profiler::{Habit, HabitKind, Profile, habits};
use crate::report::{Finding, HOST};

/// Reports the habits of a trace; none is a problem by itself.
pub(super) fn findings(profile: &Profile) -> Vec<Finding> {
    habits(profile).iter().map(|habit| finding(profile, habit)).collect()
}

fn finding(profile: &Profile, habit: &Habit) -> Finding {
    let Words { code, title, shows, advice } = words(habit);
    let places = places(profile, habit);
    let device = habit.device.map_or(HOST, i64::from);
    let stated = Finding::stated(code, device, habit.bytes, title, format!("{shows}{places}"), advice.to_owned());
    Finding { confidence: Confidence::Medium, ..stated }
}

/// Names the places with their numbers in all steps.
fn places(profile: &Profile, habit: &Habit) -> String {
    if habit.places.is_empty() {
        return String::new();
    }
    let place =
        |(name, times): &(_, usize)| format!("{} times in {}", format::count(*times as u64), profile.name(*name));
    let places: Vec<String> = habit.places.iter().map(place).collect();
    format!(" In all steps together, that is {}.", places.join(", "))
}

/// Words of a finding.
struct Words {
    code: FindingCode,
    title: String,
    shows: String,
    advice: &'static str,
}

fn words(habit: &Habit) -> Words {
    let tensors = format::counted(habit.times as u64, "tensor");
    let steps = format::counted(habit.steps as u64, "step");
    let bytes = format::bytes(habit.bytes);
    match habit.kind {
        HabitKind::CopiesInModel => Words {
            code: FindingCode::HostCopiesEachStep,
            title: format!("Layers of the model copy {tensors} from the host in each step"),
            shows: format!(
                "In each of {steps}, layers copied at least {tensors} of the same sizes ({bytes}) from memory that is not \
                 pinned. The program waits for such copies."
            ),
            advice: "Keep what does not change on the GPU, such as masks and positions: pass it to `register_buffer`, or \
                     create it there by `device=x.device`.",
        },
        HabitKind::CopiesToGpu => Words {
            code: FindingCode::HostCopiesEachStep,
            title: format!("At least {tensors} are copied from the host in each step"),
            shows: format!(
                "In each of {steps}, the program copied at least {tensors} ({bytes}) from memory that is not pinned. It \
                 waits for such copies."
            ),
            advice: "Create tensors on the GPU by `device=\"cuda\"` instead of copying them, and join small ones before the \
                     copy.\nFor batches, use `DataLoader(…, pin_memory=True)` and `.to(device, non_blocking=True)`.",
        },
        HabitKind::Reads => Words {
            code: FindingCode::GpuReadEachStep,
            title: format!("The program waits for values of the GPU {} times in each step", habit.times),
            shows: format!(
                "In each of {steps}, it copied values to the host at least {} times. It spent {} of the steps' time in \
                 waiting for them, which includes work that the GPU has to do anyway.",
                habit.times,
                format::percent(habit.wait_us as u64, habit.steps_us as u64)
            ),
            advice: "Sum up losses and metrics on the GPU, and read them every 100 steps or so.\n\nValues are read by \
                     `item()`, `tolist()`, `cpu()`, `nonzero()`, `if tensor:` and an index that is a mask.",
        },
        HabitKind::Contiguous => Words {
            code: FindingCode::ContiguousCopies,
            title: format!("`contiguous()` copies at least {bytes} in each step"),
            shows: format!("In each of {steps}, `contiguous()` allocated at least {tensors} ({bytes}) for its copies."),
            advice: "See whether what follows needs the copy: most operations, among them matrix products and \
                     `scaled_dot_product_attention`, take transposed tensors, and `reshape` copies only if it has to.",
        },
        HabitKind::Creations => Words {
            code: FindingCode::TensorsRecreated,
            title: format!("The same functions create {tensors} ({bytes}) again in each step"),
            shows: format!(
                "In each of {steps}, {tensors} of the same sizes ({bytes}) were created by operators such as `zeros`, \
                 `ones`, `full` and `empty`."
            ),
            advice: "If the values never change, as those of masks and positions, create them once before the loop, or pass \
                     them to `register_buffer`.\nIf they are overwritten, keep the tensor and clear it by `zero_()`.",
        },
    }
}
