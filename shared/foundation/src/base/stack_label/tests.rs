//! Checks labels of small stacks, and those of random lists against the stacks themselves.

use super::*;

const TORCH: &str = "/v/site-packages/torch/nn/functional.py";
const EINOPS: &str = "/v/site-packages/einops/_backends.py";
const HF: &str = "/v/site-packages/transformers/modeling_gpt2.py";

#[track_caller]
fn label(frames: &[FrameText<'_>], text: &str) {
    let found = Labelled::with_rule(frames.to_vec(), &OwnCode::Automatic).label;
    assert_eq!(found.map(|label| label.text()).unwrap_or_default(), text);
}

#[test]
fn a_label_is_the_users_own_frame_and_the_librarys_leaf() {
    let (forward, main) = (("forward", "/srv/transformer.py", 77), ("main", "/srv/train.py", 9));
    let mm = ("at::_ops::mm::call()", "??", 0);
    label(&[mm, ("einsum", EINOPS, 288), forward, main], "forward (transformer.py:77) → einsum (_backends.py:288)");
    label(&[mm, ("linear", TORCH, 2), forward, main], "forward (transformer.py:77) → linear");
    label(&[mm, ("_call_impl", TORCH, 2), forward, main], "forward (transformer.py:77) → aten::mm");
    label(&[mm, ("linear", TORCH, 2), ("forward", HF, 4)], "forward (modeling_gpt2.py:4) → linear");
    label(&[("forward", HF, 4), main], "main (train.py:9) → forward (modeling_gpt2.py:4)");
    label(&[forward, main], "forward (transformer.py:77)");
    label(&[("malloc()", "a.cpp", 3), mm], "aten::mm");
    label(
        &[("aten::mm", "operator", 0), ("head · forward", "module", 0), ("forward", "phase", 0)],
        "head · forward → aten::mm",
    );
    label(&[], "");
}

#[test]
fn a_short_label_begins_with_what_is_not_the_same_in_others() {
    let label = |leaf: &str, differs: &str| StackLabel {
        title: "step".to_owned(),
        place: "train.py:14".to_owned(),
        leaf: leaf.to_owned(),
        differs: differs.to_owned(),
    };
    let leads = |list: &[StackLabel]| -> Vec<(String, String)> { list.iter().map(|label| label.split(list)).collect() };
    let pair = |lead: &str, rest: &str| (lead.to_owned(), rest.to_owned());
    assert_eq!(leads(&[label("linear", "")]), [pair("step (train.py:14)", "→ linear")]);
    let [linear, relu] = ["linear", "relu"].map(|leaf| label(leaf, ""));
    assert_eq!(leads(&[linear, relu]), [pair("linear", "step (train.py:14)"), pair("relu", "step (train.py:14)")]);
    let of = |leaf: u32, differs: u32| label(&format!("call (net.py:{leaf})"), &format!("run (net.py:{differs})"));
    let found = leads(&[of(1, 7), of(1, 8), of(2, 7)]);
    let leads: Vec<&str> = found.iter().map(|(lead, _)| lead.as_str()).collect();
    assert_eq!(leads, ["net.py:1 · net.py:7", "run (net.py:8)", "call (net.py:2)"]);
    let bare = StackLabel { title: "aten::mm".to_owned(), ..StackLabel::default() };
    assert_eq!(bare.split(&[bare.clone(), bare.clone()]), pair("aten::mm", ""));
}

#[test]
fn own_code_can_be_chosen() {
    let frames = vec![("mm", TORCH, 1), ("einsum", EINOPS, 2), ("forward", HF, 4), ("main", "/srv/train.py", 9)];
    let title = |rule: &str| Labelled::with_rule(frames.clone(), &OwnCode::of_text(rule)).label.unwrap().head();
    assert_eq!(title(""), "main (train.py:9)");
    assert_eq!(title("transformers"), "forward (modeling_gpt2.py:4)");
    assert_eq!(title("!"), "einsum (_backends.py:2)");
    assert_eq!(title("!einops"), "forward (modeling_gpt2.py:4)");
    // A rule that no frame fits leaves the frame of the program.
    assert_eq!(title("nowhere"), "einsum (_backends.py:2)");
}

fn differs(stacks: &[&[FrameText<'_>]]) -> Vec<String> {
    let mut list: Vec<_> =
        stacks.iter().map(|frames| Labelled::with_rule(frames.to_vec(), &OwnCode::Automatic)).collect();
    distinguish(&mut list);
    list.into_iter().map(|one| one.label.map(|label| label.differs).unwrap_or_default()).collect()
}

#[test]
fn equal_labels_show_the_frames_in_which_they_differ() {
    let up = ("up", "/srv/mlp.py", 1);
    let (one, two) = (("block", "/srv/model.py", 4), ("block", "/srv/model.py", 5));
    let (first, second) = (("first", "/srv/train.py", 7), ("second", "/srv/train.py", 8));
    assert_eq!(differs(&[&[up, one, first], &[up, two, first]]), ["block (model.py:4)", "block (model.py:5)"]);
    assert_eq!(
        differs(&[&[up, one, first], &[up, two, first], &[up, two, second]]),
        ["block (model.py:4)", "block (model.py:5) < first (train.py:7)", "block (model.py:5) < second (train.py:8)"]
    );
    // The same stack twice, and another label.
    assert_eq!(differs(&[&[up, one], &[up, one], &[one]]), ["", "", ""]);
    // The runtime below the program.
    let (gelu, relu) = (("gelu", TORCH, 1), ("relu", TORCH, 2));
    let inner = ("mul", TORCH, 3);
    assert_eq!(
        differs(&[&[gelu, inner, up], &[relu, inner, up]]),
        ["gelu (functional.py:1)", "relu (functional.py:2)"]
    );
    // Ways through the interpreter, which nobody looks at unless nothing else differs.
    let [this, other] = [7352, 5376].map(|line| ("do_call_core", "Python/ceval.c", line));
    assert_eq!(
        differs(&[&[gelu, inner, this, up], &[relu, inner, other, up]]),
        ["gelu (functional.py:1)", "relu (functional.py:2)"]
    );
    assert_eq!(differs(&[&[gelu, this, up], &[gelu, other, up]]), ["variant 2", "variant 1"]);
    // Files of one name, and a stack that ends earlier.
    let [a, b] = ["/srv/a/x.py", "/srv/b/x.py"].map(|file| ("f", file, 1));
    assert_eq!(differs(&[&[a], &[b]]), ["f (/srv/a/x.py:1)", "f (/srv/b/x.py:1)"]);
    assert_eq!(differs(&[&[up], &[up, one]]), ["no further caller", "block (model.py:4)"]);
}

/// Naive law: labels of a list differ exactly if the stacks do.
#[test]
fn labels_differ_if_stacks_do() {
    let files = ["/srv/a/x.py", "/srv/b/x.py", TORCH, HF, "ceval.c", "??", "operator", "module"];
    let mut state = 7_u64;
    let mut draw = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for _ in 0..400 {
        let stacks: Vec<Vec<FrameText<'_>>> = (0..12)
            .map(|_| {
                (0..1 + draw(4))
                    .map(|_| (["f", "g"][draw(2) as usize], files[draw(files.len() as u64) as usize], draw(3)))
                    .collect()
            })
            .collect();
        let mut list: Vec<_> =
            stacks.iter().map(|frames| Labelled::with_rule(frames.clone(), &OwnCode::Automatic)).collect();
        distinguish(&mut list);
        let texts: Vec<String> = list.iter().map(|one| one.label.as_ref().unwrap().text()).collect();
        for (a, one) in stacks.iter().enumerate() {
            for (b, other) in stacks.iter().enumerate() {
                assert_eq!(texts[a] == texts[b], one == other, "{one:?} {} / {other:?} {}", texts[a], texts[b]);
            }
        }
    }
}

#[test]
fn a_place_is_as_long_as_it_is_known() {
    assert_eq!(place("f", "/srv/train.py", 88), "f (train.py:88)");
    assert_eq!(place("f", "C:\\train.py", 0), "f (train.py)");
    assert_eq!(place("f", "??", 3), "f");
    assert_eq!(place("head · forward", frame_rules::RECORDED_MODULE, 3), "head · forward");
}

#[track_caller]
fn position(frames: &[(&str, &str)], position: Option<usize>) {
    assert_eq!(automatic_position(frames.iter().copied()), position);
}

#[test]
fn the_title_is_the_innermost_frame_that_says_something() {
    let torch = ("step", "/v/site-packages/torch/optim/adam.py");
    let native = ("c10::cuda::malloc(void**)", "CUDACachingAllocator.cpp");
    let backward = ("torch::autograd::generated::MmBackward0::apply()", "Functions.cpp");
    let operator = ("at::_ops::mm::call()", "??");
    position(&[native, torch, ("main", "/srv/train.py"), ("start", "/srv/run.py")], Some(2));
    position(&[native, operator, backward], Some(2));
    position(&[native, operator, torch], Some(2));
    position(&[native, operator], Some(1));
    position(&[native, native], Some(0));
    position(&[], None);
    position(&[("aten::mm", "operator"), ("layers.3.mlp.up · forward", "module"), ("forward", "phase")], Some(1));
}
