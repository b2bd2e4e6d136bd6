//! Start page, shown while no file is open, with Python code that records a snapshot.

use super::mistakes::{Follow, mistakes, stored_link};
use crate::components::{CopyButton, IconName, click, icon, setting, tab_keys};
use crate::platform::{fragment, has_server};
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
        let onclick = on_choose.reform(move |_: MouseEvent| number);
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
