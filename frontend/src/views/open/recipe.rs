//! Python code that records a snapshot, on the page without a file.

use crate::components::buttons::CopyButton;
use crate::components::controls::tab_keys;
use yew::prelude::*;

/// Code for one purpose.
struct Recipe {
    /// Text of its tab.
    name: &'static str,
    code: &'static str,
}

/// The recipes; `docs/recording.md` has the same.
const RECIPES: [Recipe; 2] = [
    Recipe {
        name: "A few steps",
        code: "\
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
    },
    Recipe {
        name: "On out of memory",
        code: "\
torch.cuda.memory._record_memory_history(max_entries=1_000_000)

def dump(device, requested, allocated, free):
    torch.cuda.memory._dump_snapshot(\"out-of-memory.pickle\")

torch._C._cuda_attach_out_of_memory_observer(dump)
",
    },
];

/// Shows one recipe, with tabs for the others.
#[component]
pub(super) fn RecipeBox() -> Html {
    let chosen = use_state_eq(|| 0_u32);
    let on_choose = {
        let chosen = chosen.setter();
        Callback::from(move |next: u32| chosen.set(next))
    };
    let onkeydown = tab_keys(*chosen, RECIPES.len() as u32, on_choose.clone());
    let Recipe { code, .. } = RECIPES[*chosen as usize];
    let tab = |(number, recipe): (u32, &Recipe)| {
        let is_chosen = number == *chosen;
        let onclick = on_choose.reform(move |_: MouseEvent| number);
        html! {
            <button type="button" role="tab" id={format!("recipe-{number}")} data-tab={number.to_string()}
                aria-selected={is_chosen.to_string()} tabindex={if is_chosen { "0" } else { "-1" }}
                aria-controls="recipe-code" {onclick}>{ recipe.name }</button>
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
