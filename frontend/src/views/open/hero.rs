//! Start page, shown while no file is open, with mistakes to look at, and Python code that records a snapshot.

use crate::components::{CopyButton, IconName, click, icon, passing, setting, tab_keys};
use crate::platform::{fragment, has_server, site_url};
use yew::prelude::*;

/// Shows what Snapscope is, how to open a snapshot, and how to record one, with `keep` below everything else.
///
/// `on_follow` is called with a snapshot of this site instead of leaving the page.
pub fn hero(on_open: &Callback<()>, on_follow: Option<&Follow>, keep: Html) -> Html {
    let sample = ("?sample&tour".to_owned(), "the sample");
    html! {
        <main class="hero">
            <div class="hero-inner">
                { picture() }
                <h1>{ "See where the GPU memory went" }</h1>
                <p class="lead">
                    { "Snapscope opens a PyTorch CUDA memory snapshot and shows every allocation over time: \
                       what makes up the peak, which code allocated it, and when it was freed." }
                </p>
                <div class="hero-actions">
                    <button type="button" class="button primary large" onclick={click(on_open)}>
                        { icon(IconName::Open) }{ "Open snapshot" }
                    </button>
                    { stored_link("button large", sample, on_follow, "Try the sample".into()) }
                </div>
                <p class="hint">
                    { "or drop files anywhere on this page: snapshots, and logs of trainings, nvidia-smi, ps and top" }
                </p>
                <textarea class="hero-paste" rows="2" data-paste="" aria-label="Paste an error or a log"
                    placeholder="Paste an error here, or a part of a log" />
                if fragment().is_some() {
                    <p class="hint" data-addressed="">{ "This address contains a view of a file. Open that file to see it" }</p>
                }
                { mistakes(on_follow) }
                <RecipeBox />
                <p class="private">
                    { icon(IconName::Private) }
                    { "Files are decoded in this tab: nothing leaves this machine" }
                    if has_server() { { " unless you share it" } }
                </p>
                { keep }
            </div>
        </main>
    }
}

fn picture() -> Html {
    html! {
        <svg class="hero-picture" viewBox="0 0 360 112" aria-hidden="true">
            <path class="hero-reserved" d="M8 74H40V44H104V22H196V10H300V30H352" />
            <path class="hero-d" d="M128 64V40H164V26H208V16H236V40H268V64z" />
            <path class="hero-c" d="M56 82V58H128V64H268V46H300V82z" />
            <path class="hero-b" d="M30 94V82H300V66H336V94z" />
            <path class="hero-a" d="M8 108V94H352V108z" />
        </svg>
    }
}

/// Purposes and their code; `docs/recording.md` has the same.
const RECIPES: [(&str, &str); 3] = [
    (
        "A command",
        "\
# on a GPU, with nothing to change in the script
snapscope record -- python train.py

# without a GPU: whether it fits, and a snapshot of what it would need
snapscope run --card t4-16gb -- python train.py
",
    ),
    (
        "A few steps",
        "\
torch.cuda.memory._record_memory_history(
    max_entries=1_000_000,  # keeps the last million events
    global_record_annotations=True,  # marks steps; since PyTorch 2.8
)
try:
    for batch in itertools.islice(batches, 5):
        with torch.profiler.record_function(\"step\"):
            train_step(batch)
finally:  # also after an out-of-memory error
    torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")
",
    ),
    (
        "On out of memory",
        "\
torch.cuda.memory._record_memory_history(max_entries=1_000_000)

def dump(device, requested, allocated, free):
    torch.cuda.memory._dump_snapshot(\"out-of-memory.pickle\")

torch._C._cuda_attach_out_of_memory_observer(dump)
",
    ),
];

#[component]
fn RecipeBox() -> Html {
    let chosen = use_state_eq(|| 0_u32);
    let on_choose = setting(&chosen);
    let onkeydown = tab_keys(*chosen, RECIPES.len() as u32, false, on_choose.clone());
    let code = RECIPES[*chosen as usize].1;
    let tab = |(number, (name, _)): (u32, &(&str, &str))| {
        let is_chosen = number == *chosen;
        let onclick = passing(&on_choose, number);
        html! {
            <button type="button" role="tab" id={format!("recipe-{number}")} data-tab={number.to_string()}
                aria-selected={is_chosen.to_string()} tabindex={if is_chosen { "0" } else { "-1" }}
                aria-controls="recipe-code" {onclick}>{ *name }</button>
        }
    };
    html! {
        <section class="recipe" aria-labelledby="recipe-title">
            <div class="recipe-head">
                <h2 id="recipe-title">{ "Record a snapshot" }</h2>
                <div class="recipe-tabs" role="tablist" aria-label="Record a snapshot" {onkeydown}>
                    { for (0..).zip(&RECIPES).map(tab) }
                </div>
                <CopyButton text={code} label="Copy" />
            </div>
            <pre id="recipe-code" role="tabpanel" tabindex="0" aria-labelledby={format!("recipe-{}", *chosen)}>
                <code>{ code }</code>
            </pre>
        </section>
    }
}

/// Height of a curve, in the units of its values.
const HEIGHT: u8 = 20;

struct Mistake {
    /// Name of the mistake's recording.
    name: &'static str,
    title: &'static str,
    /// Title of the recording's first finding.
    told: &'static str,
    /// Live bytes over the recording, as parts of the highest of both curves.
    bad: [u8; 48],
    good: [u8; 48],
}

/// The sample: its path, what the page will say of it, and its curve.
const SAMPLE: (&str, &str, [u8; 48]) = (
    "?sample",
    "Every step's autograd graph stays: 110 MiB per step; 883 MiB of 1.17 GiB at the peak, about 317 MiB without it",
    [
        0, 4, 4, 5, 3, 3, 4, 6, 6, 7, 5, 5, 8, 8, 8, 7, 7, 10, 10, 10, 10, 8, 11, 12, 12, 12, 10, 12, 14, 14, 14, 12,
        14, 16, 16, 16, 14, 15, 17, 17, 18, 16, 16, 19, 19, 20, 18, 17,
    ],
);

const MISTAKES: [Mistake; 3] = [
    Mistake {
        name: "keypoint_validation_bad",
        title: "Evaluation with gradients enabled",
        told: "The evaluation keeps 795 MiB for a backward pass that never runs",
        bad: [
            1, 3, 3, 3, 2, 2, 2, 2, 3, 3, 3, 3, 3, 2, 2, 4, 7, 9, 9, 9, 9, 8, 8, 8, 9, 9, 9, 9, 8, 8, 9, 12, 15, 16,
            15, 15, 15, 14, 14, 15, 16, 15, 15, 15, 14, 14, 17, 20,
        ],
        good: [
            1, 3, 3, 3, 2, 2, 2, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 2, 2, 3, 3, 3, 3, 2, 2, 2, 2, 2, 3, 3, 3, 3,
            2, 2, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2,
        ],
    },
    Mistake {
        name: "support_chat_cache_bad",
        title: "A key-value cache that is never dropped",
        told: "The KV cache is kept from one prompt to the next: 5.86 MiB per call",
        bad: [
            9, 9, 8, 8, 8, 10, 11, 9, 9, 9, 12, 10, 10, 10, 12, 13, 12, 12, 12, 14, 14, 13, 13, 13, 15, 15, 14, 14, 14,
            16, 15, 15, 15, 17, 17, 16, 16, 16, 18, 18, 17, 17, 17, 20, 18, 18, 18, 18,
        ],
        good: [
            9, 9, 8, 8, 8, 9, 9, 8, 8, 8, 9, 9, 8, 8, 8, 9, 8, 8, 8, 9, 9, 8, 8, 8, 9, 9, 8, 8, 8, 9, 9, 8, 8, 8, 9, 8,
            8, 8, 9, 9, 8, 8, 8, 9, 9, 8, 8, 8,
        ],
    },
    Mistake {
        name: "siamese_sum_bad",
        title: "One backward pass for five micro-batches",
        told: "5 forward passes run before one backward pass: their graphs hold 623 MiB",
        bad: [
            8, 18, 19, 18, 15, 12, 9, 5, 9, 18, 20, 18, 15, 12, 9, 5, 9, 19, 20, 18, 15, 12, 9, 5, 9, 19, 20, 18, 14,
            12, 9, 5, 9, 19, 20, 18, 14, 12, 9, 5, 10, 19, 20, 18, 14, 11, 9, 5,
        ],
        good: [
            5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
            5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
        ],
    },
];

/// Shows each mistake by its curve, the curve of its repair and its title, as a link to its recording.
fn mistakes(on_follow: Option<&Follow>) -> Html {
    let card = |mistake: &Mistake| {
        let inside = html! {
            <>
                { curve("mistake-bad", &mistake.bad) }
                { curve("mistake-good", &mistake.good) }
                <span class="mistake-title">{ mistake.title }</span>
            </>
        };
        stored_link("mistake", (format!("?gallery={}", mistake.name), mistake.title), on_follow, inside)
    };
    html! {
        <section class="mistakes" aria-labelledby="mistakes-title">
            <h2 id="mistakes-title">{ "Three mistakes, and the memory without them" }</h2>
            <div class="mistake-list" data-mistakes={MISTAKES.len().to_string()}>{ for MISTAKES.iter().map(card) }</div>
        </section>
    }
}

fn mistake_at(path: &str) -> Option<&'static Mistake> {
    let name = path.strip_prefix("?gallery=")?.split('&').next();
    MISTAKES.iter().find(|mistake| name == Some(mistake.name))
}

/// Returns the title of a recording by its path below the site's top; `None` for other paths.
pub fn title_of(path: &str) -> Option<&'static str> {
    match mistake_at(path) {
        Some(mistake) => Some(mistake.title),
        None if path.starts_with("?gallery=") => Some("a recording of the gallery"),
        None => path.starts_with(SAMPLE.0).then_some("the sample"),
    }
}

/// Shows what the page will say of a recording, and its curve, while the viewer is loaded; nothing for other paths.
pub fn first_look(path: &str) -> Html {
    let (sample, told, steps) = SAMPLE;
    let (told, bad, good) = match mistake_at(path) {
        Some(mistake) => (mistake.told, &mistake.bad, Some(&mistake.good)),
        None if path.starts_with(sample) => (told, &steps, None),
        None => return Html::default(),
    };
    html! {
        <figure class="first-look">
            <figcaption>{ told }{ for good.map(|_| ". Green: the memory without the mistake") }</figcaption>
            { curve("mistake-bad", bad) }
            { for good.map(|good| curve("mistake-good", good)) }
        </figure>
    }
}

fn curve(class: &'static str, values: &[u8]) -> Html {
    let steps: String = (1..).zip(values).map(|(x, value)| format!("V{}H{x}", HEIGHT - value)).collect();
    html! {
        <svg {class} viewBox={format!("0 0 {} {HEIGHT}", values.len())} preserveAspectRatio="none" aria-hidden="true">
            <path d={format!("M0 {HEIGHT}{steps}V{HEIGHT}z")} />
        </svg>
    }
}

/// Opens a snapshot of this site in the page, given its path below the site's top and its title.
pub type Follow = Callback<(String, &'static str)>;

/// Shows a link to a snapshot of this site, which leaves the page without `on_follow`, or if a key asks for another tab.
fn stored_link(
    class: &'static str,
    (path, title): (String, &'static str),
    on_follow: Option<&Follow>,
    inside: Html,
) -> Html {
    let href = site_url(&path);
    let onclick = on_follow.cloned().map(|on_follow| {
        Callback::from(move |event: MouseEvent| {
            if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                event.prevent_default();
                on_follow.emit((path.clone(), title));
            }
        })
    });
    html! { <a {class} {href} {onclick}>{ inside }</a> }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use shared::analysis::{Study, Timeline};
    use shared::import::import;
    use shared::report::{DiagnosisConfig, diagnosis};

    #[test]
    fn the_curves_are_those_of_the_gallery() {
        let figures = include_str!("../../../../static/gallery/figures.json");
        let figures: Value = serde_json::from_str(figures).unwrap();
        for Mistake { name, title, told, bad, good } in MISTAKES {
            let repair = name.replace("_bad", "_good");
            let curve = |name: &str| -> Vec<u64> {
                figures[name]["live_curve"].as_array().unwrap().iter().map(|value| value.as_u64().unwrap()).collect()
            };
            let top = curve(name).into_iter().chain(curve(&repair)).max().unwrap();
            let parts = |name: &str| -> Vec<u8> {
                curve(name).into_iter().map(|bytes| (bytes * u64::from(HEIGHT) / top) as u8).collect()
            };
            assert_eq!((parts(name), parts(&repair)), (bad.to_vec(), good.to_vec()), "{name}");
            assert_eq!(figures[name]["script"]["title"], title);
            assert_eq!(figures[name]["findings"][0]["title"], told);
        }
    }

    #[test]
    fn the_sample_is_as_the_page_shows_it() {
        let trace = import(include_bytes!("../../../../static/sample.pickle.gz")).unwrap();
        let timeline = Timeline::new(&trace, &trace.devices[0]);
        let curve = timeline.outline(48).live_bytes;
        let top = curve.iter().max().unwrap();
        let steps: Vec<u8> = curve.iter().map(|bytes| (bytes * u64::from(HEIGHT) / top) as u8).collect();
        let studies = [Study::new(&trace, &trace.devices[0], &timeline)];
        let told = diagnosis(&trace, &studies, &DiagnosisConfig::default()).runs[0].outcome();
        assert_eq!((told.as_str(), steps), (SAMPLE.1, SAMPLE.2.to_vec()));
    }
}
