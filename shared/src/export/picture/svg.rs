//! Writes a drawing as SVG, with text as text elements.
//!
//! Colours are attributes, which every program understands; a picture that follows the colour scheme of its viewer has
//! a style sheet with the dark colours besides.

use super::drawing::{Anchor, Drawing, Ink, Shape};
use crate::base::markup::escaped;
use crate::draw::color::Color;
use crate::draw::theme::Theme;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const FONT: &str = "ui-sans-serif, system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif";

/// Colour scheme of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Colours on white.
    Light,
    /// Colours on near black.
    Dark,
    /// Light, or dark if the viewer's browser prefers that.
    Both,
}

/// Writes a drawing as an SVG document, which can also be part of an HTML page.
pub fn svg(drawing: &Drawing, look: Look) -> String {
    let theme = if look == Look::Dark { Theme::dark() } else { Theme::light() };
    let Drawing { width, height, title, shapes } = drawing;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" font-family=\"{FONT}\">\n<title>{}</title>\n",
        escaped(title)
    );
    if look == Look::Both {
        svg += &dark_style(shapes);
    }
    shapes.iter().for_each(|shape| draw(&mut svg, shape, &theme));
    svg + "</svg>\n"
}

fn draw(svg: &mut String, shape: &Shape, theme: &Theme) {
    // Writing to a string never fails.
    let _ = match shape {
        Shape::Boxes { ink, boxes } => {
            let path: String = boxes.iter().map(box_path).collect();
            writeln!(svg, "<path {} shape-rendering=\"crispEdges\" d=\"{path}\"/>", painted("fill", *ink, theme))
        }
        Shape::Line { ink, width, places } => {
            let stroke = painted("stroke", *ink, theme);
            writeln!(svg, "<path {stroke} fill=\"none\" stroke-width=\"{width}\" d=\"{}\"/>", line_path(places))
        }
        Shape::Dot { ink, at: (x, y), radius } => {
            let (x, y) = (short(*x), short(*y));
            let edge = painted("stroke", Ink::Background, theme);
            // The group carries the class of the outline, because an element can have the attribute only once.
            let fill = painted("fill", *ink, theme);
            writeln!(svg, "<g {edge} stroke-width=\"1.5\"><circle {fill} cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/></g>")
        }
        Shape::Text { ink, at: (x, y), anchor, size, is_strong, words } => {
            let (x, y, words) = (short(*x), short(*y), escaped(words));
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let weight = if *is_strong { " font-weight=\"600\"" } else { "" };
            let fill = painted("fill", *ink, theme);
            writeln!(svg, "<text {fill} x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{weight}>{words}</text>")
        }
    };
}

/// Formats the class and the colour of a shape; `how` is `fill` or `stroke`.
fn painted(how: &str, ink: Ink, theme: &Theme) -> String {
    let color = ink.color(theme);
    let opacity = if color.alpha < 1.0 { format!(" {how}-opacity=\"{}\"", color.alpha) } else { String::new() };
    format!("class=\"{}\" {how}=\"{}\"{opacity}", class(how, ink), hex(color))
}

/// Returns the class of a colour: `f-m3` for shapes filled with colour number 3 of merged allocations.
fn class(how: &str, ink: Ink) -> String {
    let name = match ink {
        Ink::Background => "bg".to_owned(),
        Ink::Grid => "grid".to_owned(),
        Ink::Initial => "initial".to_owned(),
        Ink::Merged(number) => format!("m{number}"),
        Ink::Band(number) => format!("b{number}"),
        Ink::Separator => "edge".to_owned(),
        Ink::Live => "live".to_owned(),
        Ink::Reserved => "reserved".to_owned(),
        Ink::Peak => "peak".to_owned(),
        Ink::Oom => "oom".to_owned(),
        Ink::Span(depth) => format!("s{}", depth % 3),
        Ink::SpanText => "span-text".to_owned(),
        Ink::Rest => "rest".to_owned(),
        Ink::Free => "free".to_owned(),
        Ink::Edge => "rim".to_owned(),
        Ink::OnBand(number) => format!("on-b{number}"),
        Ink::OnInitial => "on-initial".to_owned(),
        Ink::OnRest => "on-rest".to_owned(),
        Ink::Text => "text".to_owned(),
        Ink::Muted => "muted".to_owned(),
    };
    format!("{}-{name}", &how[..1])
}

/// Writes a style sheet with the dark variant of each used colour.
fn dark_style(shapes: &[Shape]) -> String {
    let dark = Theme::dark();
    let used = shapes.iter().flat_map(|shape| match shape {
        Shape::Boxes { ink, .. } | Shape::Text { ink, .. } => vec![("fill", *ink)],
        Shape::Line { ink, .. } => vec![("stroke", *ink)],
        Shape::Dot { ink, .. } => vec![("fill", *ink), ("stroke", Ink::Background)],
    });
    let mut style = "<style>@media (prefers-color-scheme:dark){".to_owned();
    for (how, ink) in used.collect::<BTreeSet<_>>() {
        let color = ink.color(&dark);
        let opacity = if color.alpha < 1.0 { format!(";{how}-opacity:{}", color.alpha) } else { String::new() };
        let _ = write!(style, ".{}{{{how}:{}{opacity}}}", class(how, ink), hex(color));
    }
    style + "}</style>\n"
}

fn hex(color: Color) -> String {
    format!("#{:06x}", color.rgb)
}

/// Formats a rectangle as a path.
///
/// Edges are rounded instead of lengths, because rounded lengths would leave seams between neighbours.
fn box_path([left, top, width, height]: &[f64; 4]) -> String {
    let edge = |at: f64| (at * 10.0).round() / 10.0;
    let (right, bottom) = (edge(left + width), edge(top + height));
    let (width, height) = (short(right - edge(*left)), short(bottom - edge(*top)));
    format!("M{} {}h{width}v{height}h-{width}z", short(*left), short(*top))
}

fn line_path(places: &[(f64, f64)]) -> String {
    let mut path = String::new();
    let mut last = None;
    for &(x, y) in places {
        let (x, y) = (short(x), short(y));
        let _ = match &last {
            None => write!(path, "M{x} {y}"),
            Some((before, _)) if *before == x => write!(path, "V{y}"),
            Some((_, before)) if *before == y => write!(path, "H{x}"),
            Some(_) => write!(path, "L{x} {y}"),
        };
        last = Some((x, y));
    }
    path
}

/// Formats a length with at most one decimal.
fn short(length: f64) -> String {
    let text = format!("{length:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}
