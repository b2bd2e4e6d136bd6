//! Draws the boxes of a flame graph, and decides their labels and colours.

use crate::base::frame_rules;
use crate::draw::theme::HUES;
use crate::draw::{Align, Color, Font, Op, Rect};

/// Height of a row with its gap, in CSS pixels.
pub const ROW: f64 = 20.0;

/// Gap between rows, and between boxes that are wide enough for it, in CSS pixels.
pub const GAP: f64 = 1.0;

/// Padding at both ends of a label, in CSS pixels.
const PADDING: f64 = 4.0;

/// Minimum width of a box with a label, in CSS pixels.
const LABELLED: f64 = 32.0;

/// Distance between a name and its place, in CSS pixels.
const BETWEEN: f64 = 8.0;

/// Returns the coloured part of a box, without the gap to the next one.
pub fn box_rect(rect: Rect) -> Rect {
    let gap = if rect.width > 3.0 { GAP } else { 0.0 };
    Rect { width: rect.width - gap, ..rect }
}

/// Draws the name on a box, cut off at its end if necessary, and the place if both fit.
pub fn box_label(rect: Rect, (name, place): (&str, &str), color: Color) -> Vec<Op> {
    let font = Font::LABEL;
    let room = rect.width - 2.0 * PADDING;
    let fitted = if rect.width < LABELLED { String::new() } else { font.fitted(name, room) };
    if fitted.is_empty() {
        return Vec::new();
    }
    let (x, y) = (rect.x + PADDING, rect.y + rect.height / 2.0 + 0.5);
    let mut texts = vec![Op::text((x, y), fitted, Align::Left, font, color)];
    if !place.is_empty() && font.width(name) + BETWEEN + font.width(place) <= room {
        texts.push(Op::text((x + room, y), place, Align::Right, font, color));
    }
    texts
}

/// Returns the name of a site: its function, or the operation behind a symbol of PyTorch's C++.
pub fn site_name(name: &str, filename: &str) -> String {
    let operation = if frame_rules::is_runtime(filename) { frame_rules::operation(name) } else { None };
    operation.unwrap_or_else(|| name.to_owned())
}

/// Returns the label of a site's box, and the file and line to show behind it if they fit.
///
/// `name` is a [`site_name`]; `line` is 0 if it is unknown. The place is empty if the label says everything.
pub fn site_label(name: &str, filename: &str, line: u64) -> (String, String) {
    if filename == frame_rules::RECORDED_MODULE {
        return module_label(name);
    }
    let file = match filename {
        "??" => "",
        _ if frame_rules::is_recorded(filename) => "",
        _ => filename.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default(),
    };
    let place = if file.is_empty() || line == 0 { file.to_owned() } else { format!("{file}:{line}") };
    (name.to_owned(), place)
}

/// Returns the colour number of a site's box; sites that belong together have the same one in every graph.
pub fn site_hue(name: &str, filename: &str) -> u32 {
    hue_of(&family(name, filename))
}

/// Returns the colour number of a text, which is the same everywhere.
fn hue_of(text: &str) -> u32 {
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash ^ (hash >> 15)) % HUES as u32
}

/// Splits a recorded module into its last part and the rest, since enclosing modules are in the boxes above.
fn module_label(name: &str) -> (String, String) {
    let (module, phase) = name.split_once(" · ").unwrap_or((name, ""));
    let dots: Vec<usize> = module.match_indices('.').map(|(position, _)| position).collect();
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    // A number needs the name of what it counts.
    let cut = match dots.as_slice() {
        [.., before, last] if is_number(&module[last + 1..]) => Some(*before),
        [last] if is_number(&module[last + 1..]) => None,
        dots => dots.last().copied(),
    };
    let (around, short) = cut.map_or(("", module), |dot| (&module[..dot], &module[dot + 1..]));
    let rest = [around, phase].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    (short.to_owned(), rest.join(" · "))
}

/// Returns the name of the sites that share a colour with this one.
///
/// They share a package, a file of the program, a module whatever its layer's number, or a namespace of symbols.
fn family(name: &str, filename: &str) -> String {
    let filename = filename.replace('\\', "/");
    if frame_rules::is_recorded(&filename) {
        let module = name.split(" · ").next().unwrap_or(name);
        return module.chars().filter(|c| !c.is_ascii_digit()).collect();
    }
    if let Some((_, package)) = filename.rsplit_once("-packages/") {
        return package.split('/').next().unwrap_or(package).to_owned();
    }
    match filename.rsplit('/').next().unwrap_or_default() {
        "" | "??" => name.split("::").next().unwrap_or(name).to_owned(),
        file => file.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_named_if_it_fits() {
        let texts = |width| {
            let rect = Rect::new(10.0, 0.0, width, 19.0);
            let text = |op| if let Op::Text { text, .. } = op { text } else { String::new() };
            box_label(rect, ("forward", "train.py:12"), Color::new(0)).into_iter().map(text).collect::<Vec<_>>()
        };
        assert_eq!(texts(200.0), ["forward", "train.py:12"]);
        assert_eq!((texts(100.0), texts(36.0)), (vec!["forward".to_owned()], vec!["for…".to_owned()]));
        assert!(texts(30.0).is_empty());
    }

    #[test]
    fn modules_are_named_by_their_last_part() {
        let label = |name: &str| {
            let (name, place) = module_label(name);
            format!("{name} | {place}")
        };
        assert_eq!(label("layers.10.mlp · forward"), "mlp | layers.10 · forward");
        assert_eq!(label("layers.10 · forward"), "layers.10 | forward");
        assert_eq!(label("model.layers.10 · forward"), "layers.10 | model · forward");
        assert_eq!((label("head"), label("3")), ("head | ".to_owned(), "3 | ".to_owned()));
    }

    #[test]
    fn sites_are_named_with_their_file() {
        let label = |name: &str, filename: &str, line| {
            let (name, place) = site_label(&site_name(name, filename), filename, line);
            format!("{name} | {place}")
        };
        assert_eq!(label("step", "/srv/app/train.py", 12), "step | train.py:12");
        assert_eq!(label("step", r"C:\app\train.py", 0), "step | train.py");
        assert_eq!(label("at::_ops::mm::call(at::Tensor)", "??", 0), "aten::mm | ");
        assert_eq!(label("aten::mm", "operator", 0), "aten::mm | ");
        assert_eq!(label("mlp.up · forward", "module", 0), "up | mlp · forward");
    }

    #[test]
    fn what_belongs_together_has_one_colour() {
        let same = |a: (&str, &str), b: (&str, &str)| family(a.0, a.1) == family(b.0, b.1);
        assert!(same(("f", "/a/site-packages/transformers/x.py"), ("g", "/b/dist-packages/transformers/y/z.py")));
        assert!(same(("layers.3.mlp · forward", "module"), ("layers.11.mlp · backward", "module")));
        assert!(same(("f", "/srv/model.py"), ("g", r"C:\work\model.py")));
        assert!(!same(("f", "model.py"), ("f", "train.py")));
        assert!(same(("aten::mm", "??"), ("aten::add", "")));
    }

    #[test]
    fn texts_have_all_colours() {
        let hues: std::collections::BTreeSet<u32> = (0..200).map(|i| hue_of(&format!("file{i}.py"))).collect();
        assert_eq!(hues.len(), HUES, "all of them are used");
    }
}
