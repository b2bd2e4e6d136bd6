//! Writes drawings as SVG, with text as text elements.
//!
//! Colours are attributes, which every program understands; a drawing that follows the colour scheme of its viewer also
//! has a style sheet with the dark colours.

use crate::base::markup::escaped;
use crate::draw::op::{DASH, HALO, RING};
use crate::draw::{Align, Color, Op, Point, Rect, Sketch};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const FONT: &str = "ui-sans-serif, system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif";

/// Writes a drawing as an SVG document, which can also be part of an HTML page.
pub fn svg(title: &str, sketch: &Sketch) -> String {
    write(title, sketch, None)
}

/// Writes a drawing that is light, or dark if the viewer's browser prefers that.
///
/// Both drawings have the same operations, except for their colours.
pub fn svg_for_both(title: &str, light: &Sketch, dark: &Sketch) -> String {
    write(title, light, Some(dark))
}

fn write(title: &str, sketch: &Sketch, dark: Option<&Sketch>) -> String {
    let mut pen = Pen { out: String::new(), clips: 0, open: 0, classes: dark.map(|_| BTreeMap::new()) };
    let other = dark.map_or(&sketch.ops, |dark| &dark.ops);
    sketch.ops.iter().zip(other).for_each(|(op, dark)| pen.draw(op, dark));
    (0..pen.open).for_each(|_| pen.put("</g>\n"));
    let Sketch { width, height, .. } = sketch;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" font-family=\"{FONT}\" stroke-linejoin=\"round\">\n<title>{}</title>\n\
         {}{}</svg>\n",
        escaped(title),
        pen.style(),
        pen.out
    )
}

/// Attribute that takes a colour: `fill` or `stroke`.
type How = &'static str;

struct Pen {
    out: String,
    /// Number of clips so far, because each one needs its own id.
    clips: usize,
    /// Number of clips that have not ended.
    open: usize,
    /// Classes of the dark colours with their declarations; `None` if the drawing has one theme.
    classes: Option<BTreeMap<String, String>>,
}

impl Pen {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn draw(&mut self, op: &Op, dark: &Op) {
        match (op, dark) {
            (Op::Fill { rect, radius, color }, Op::Fill { color: dark, .. }) => {
                let rounded = if *radius > 0.0 { format!(" rx=\"{}\"", short(*radius)) } else { String::new() };
                let fill = self.painted(&[("fill", *color, *dark)]);
                self.put(&format!("<rect {}{rounded} {fill}/>\n", place(*rect)));
            }
            (Op::Boxes { boxes, color }, Op::Boxes { color: dark, .. }) => {
                let path: String = boxes.iter().map(box_path).collect();
                let fill = self.painted(&[("fill", *color, *dark)]);
                self.put(&format!("<path {fill} shape-rendering=\"crispEdges\" d=\"{path}\"/>\n"));
            }
            (Op::Area { points, color }, Op::Area { color: dark, .. }) => {
                let fill = self.painted(&[("fill", *color, *dark)]);
                self.put(&format!("<path {fill} d=\"{}z\"/>\n", line_path(points)));
            }
            (Op::Line { points, width, color, dashed }, Op::Line { color: dark, .. }) => {
                let [dash, gap] = DASH;
                let dashes = if *dashed { format!(" stroke-dasharray=\"{dash} {gap}\"") } else { String::new() };
                let (path, stroke) = (line_path(points), self.painted(&[("stroke", *color, *dark)]));
                self.put(&format!("<path {stroke} fill=\"none\" stroke-width=\"{width}\"{dashes} d=\"{path}\"/>\n"));
            }
            (Op::Dot { at, radius, color, ring }, Op::Dot { color: dark, ring: dark_ring, .. }) => {
                let painted = self.painted(&[("fill", *color, *dark), ("stroke", *ring, *dark_ring)]);
                // A stroke lies half inside the circle.
                let place =
                    format!("cx=\"{}\" cy=\"{}\" r=\"{}\"", short(at.0), short(at.1), short(radius + RING / 2.0));
                self.put(&format!("<circle {place} stroke-width=\"{RING}\" {painted}/>\n"));
            }
            (Op::Hint { rect, text }, _) => {
                let words = escaped(text);
                self.put(&format!("<rect {} fill-opacity=\"0\"><title>{words}</title></rect>\n", place(*rect)));
            }
            (Op::Clip(rect), _) => self.clip(*rect),
            (Op::Unclip, _) if self.open > 0 => {
                self.put("</g>\n");
                self.open -= 1;
            }
            (Op::Text { .. }, _) => self.text(op, dark),
            _ => (),
        }
    }

    fn clip(&mut self, rect: Rect) {
        self.clips += 1;
        self.open += 1;
        let name = format!("clip{}", self.clips);
        self.put(&format!(
            "<clipPath id=\"{name}\"><rect {}/></clipPath>\n<g clip-path=\"url(#{name})\">\n",
            place(rect)
        ));
    }

    fn text(&mut self, op: &Op, dark: &Op) {
        let Op::Text { x, y, text, align, font, color, halo } = op else { return };
        let Op::Text { color: dark, halo: dark_halo, .. } = dark else { return };
        let anchor = match align {
            Align::Left => "",
            Align::Center => " text-anchor=\"middle\"",
            Align::Right => " text-anchor=\"end\"",
        };
        let weight = if font.is_strong { format!(" font-weight=\"{}\"", font.weight()) } else { String::new() };
        let contour =
            if halo.is_some() { format!(" paint-order=\"stroke\" stroke-width=\"{HALO}\"") } else { String::new() };
        let stroke = halo.zip(*dark_halo).map(|(halo, dark)| ("stroke", halo, dark));
        let colors: Vec<_> = std::iter::once(("fill", *color, *dark)).chain(stroke).collect();
        let (painted, words) = (self.painted(&colors), escaped(text));
        let (x, y, size) = (short(*x), short(y + font.baseline()), font.size);
        self.put(&format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{weight}{contour} {painted}>{words}</text>\n"
        ));
    }

    /// Returns colours as attributes, with the classes of their dark variants.
    fn painted(&mut self, colors: &[(How, Color, Color)]) -> String {
        let classes: Vec<String> = colors.iter().filter_map(|(how, _, dark)| self.class(how, *dark)).collect();
        let class = (!classes.is_empty()).then(|| format!("class=\"{}\"", classes.join(" ")));
        let attributes = colors.iter().map(|(name, color, _)| {
            let opacity =
                if color.alpha < 1.0 { format!(" {name}-opacity=\"{}\"", alpha(*color)) } else { String::new() };
            format!("{name}=\"{}\"{opacity}", hex(*color))
        });
        class.into_iter().chain(attributes).collect::<Vec<_>>().join(" ")
    }

    /// Returns the class of a dark colour; `None` if the drawing has one theme.
    ///
    /// It is named after its colour, because all drawings in an HTML page share their classes.
    fn class(&mut self, name: How, dark: Color) -> Option<String> {
        let (color, opacity) = (hex(dark), alpha(dark));
        let classes = self.classes.as_mut()?;
        let class = format!("{name}-{}-{}", &color[1..], opacity.replace('.', "_"));
        classes.entry(class.clone()).or_insert_with(|| format!("{name}:{color};{name}-opacity:{opacity}"));
        Some(class)
    }

    /// Returns a style sheet with the dark colours; empty if the drawing has one theme.
    fn style(&self) -> String {
        let Some(classes) = &self.classes else { return String::new() };
        let rules: String = classes.iter().map(|(class, words)| format!(".{class}{{{words}}}")).collect();
        format!("<style>@media (prefers-color-scheme:dark){{{rules}}}</style>\n")
    }
}

fn hex(color: Color) -> String {
    format!("#{:06x}", color.rgb)
}

fn alpha(color: Color) -> String {
    let text = format!("{:.3}", color.alpha);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn place(Rect { x, y, width, height }: Rect) -> String {
    let (width, height) = (width.max(0.0), height.max(0.0));
    format!("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", short(x), short(y), short(width), short(height))
}

/// Formats a rectangle as a path, with one decimal because a drawing may have thousands of them.
///
/// Edges are rounded instead of lengths, because rounded lengths would leave seams between neighbours.
fn box_path(rect: &Rect) -> String {
    let edge = |at: f64| (at * 10.0).round() / 10.0;
    let (left, top) = (edge(rect.x), edge(rect.y));
    let (width, height) = (short(edge(rect.right()) - left), short(edge(rect.bottom()) - top));
    format!("M{} {}h{width}v{height}h-{width}z", short(left), short(top))
}

fn line_path(points: &[Point]) -> String {
    let mut path = String::new();
    let mut last = None;
    for &(x, y) in points {
        let (x, y) = (short(x), short(y));
        // Writing to a string never fails.
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

/// Formats a length with at most two decimals.
fn short(length: f64) -> String {
    let text = format!("{length:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Font;

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
}
