//! Tests the documents that the writer makes of each operation.

use super::*;
use crate::draw::op::Font;

fn sketch(ops: Vec<Op>) -> Sketch {
    Sketch { ops, width: 300.0, height: 100.0 }
}

fn text(text: &str, color: u32) -> Op {
    let (font, color) = (Font::STRONG, Color::new(color));
    let halo = Some(Color::new(0));
    Op::Text { x: 10.0, y: 20.0, text: text.to_owned(), align: Align::Right, font, color, halo }
}

#[test]
fn every_operation_has_its_shape() {
    let rect = Rect::new(1.0, 2.5, 30.0, 4.0);
    let color = Color::new(0xff8800).with_alpha(0.5);
    let ops = vec![
        Op::Clip(rect),
        Op::Fill { rect, radius: 2.0, color },
        Op::Unclip,
        Op::Boxes { boxes: vec![rect, Rect::new(31.0, 2.54, 1.06, 1.0)], color },
        Op::Area { points: vec![(0.0, 0.0), (4.0, 0.0), (4.0, 3.0)], color },
        Op::dashed([(0.0, 1.0), (2.0, 1.0), (3.0, 2.0)], 1.5, color),
        text("forward", 0x112233),
        Op::Dot { at: (5.0, 6.0), radius: 3.0, color, ring: Color::new(0) },
        Op::Hint { rect, text: "<1>".to_owned() },
    ];
    let svg = svg("a <b>", &sketch(ops));
    for part in [
        "viewBox=\"0 0 300 100\"",
        "<title>a &lt;b&gt;</title>",
        "<g clip-path=\"url(#clip1)\">\n<rect x=\"1\" y=\"2.5\" width=\"30\" height=\"4\" rx=\"2\" fill=\"#ff8800\" fill-opacity=\"0.5\"/>\n</g>",
        "d=\"M1 2.5h30v4h-30zM31 2.5h1.1v1h-1.1z\"",
        "<path fill=\"#ff8800\" fill-opacity=\"0.5\" d=\"M0 0H4V3z\"/>",
        "stroke=\"#ff8800\" stroke-opacity=\"0.5\" fill=\"none\" stroke-width=\"1.5\" stroke-dasharray=\"3 3\" d=\"M0 1H2L3 2\"/>",
        "text-anchor=\"end\" font-weight=\"600\" paint-order=\"stroke\" stroke-width=\"3\" fill=\"#112233\" stroke=\"#000000\">forward</text>",
        "<circle cx=\"5\" cy=\"6\" r=\"3.75\" stroke-width=\"1.5\" fill=\"#ff8800\" fill-opacity=\"0.5\" stroke=\"#000000\"/>",
        "height=\"4\" fill-opacity=\"0\"><title>&lt;1&gt;</title></rect>",
    ] {
        assert!(svg.contains(part), "{part} in {svg}");
    }
    assert!(!svg.contains("<style"));
}

#[test]
fn texts_of_a_snapshot_are_no_markup() {
    let svg = svg("t", &sketch(vec![text("<script>&\"", 0)]));
    assert!(!svg.contains("<script>") && svg.contains("&lt;script&gt;&amp;"), "{svg}");
}

#[test]
fn what_is_clipped_at_the_end_is_closed() {
    let clip = || Op::Clip(Rect::default());
    let svg = svg("t", &sketch(vec![Op::Unclip, clip(), clip(), Op::Unclip, text("t", 0)]));
    assert_eq!((svg.matches("<g").count(), svg.matches("</g>").count()), (2, 2), "{svg}");
}

#[test]
fn dark_colours_are_in_a_style_sheet() {
    let (light, dark) = (sketch(vec![text("a", 1), text("b", 1)]), sketch(vec![text("a", 2), text("b", 3)]));
    let svg = svg_for_both("t", &light, &dark);
    assert!(svg.contains("@media (prefers-color-scheme:dark){"), "{svg}");
    for (word, dark) in [("a", "000002"), ("b", "000003")] {
        assert!(svg.contains(&format!(".fill-{dark}-1{{fill:#{dark};fill-opacity:1}}")), "{svg}");
        let class = format!("class=\"fill-{dark}-1 stroke-000000-1\"");
        assert!(svg.contains(&format!("{class} fill=\"#000001\" stroke=\"#000000\">{word}</text>")), "{svg}");
    }
}
