//! Writer of drawing operations as an SVG document, for saved drawings.

use super::color::Color;
use super::layout::Rect;
use super::overlay::{Align, Op};
use super::theme::Theme;
use shared::base::markup::escaped;
use std::fmt::Write as _;

const FONT: &str = "ui-sans-serif, system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif";

/// Height of the title's line in pixels.
const HEAD: f64 = 30.0;

/// The drawing of one element.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sketch {
    /// The operations, in CSS pixels of the element.
    pub ops: Vec<Op>,
    pub width: f64,
    pub height: f64,
}

/// Returns a document of sketches below a title and below each other, on the theme's background.
pub fn svg<'a>(title: &str, sketches: impl Iterator<Item = &'a Sketch> + Clone, theme: &Theme) -> String {
    let width = sketches.clone().map(|sketch| sketch.width).fold(1.0, f64::max);
    let height = HEAD + sketches.clone().map(|sketch| sketch.height).sum::<f64>();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" font-family=\"{FONT}\" stroke-linejoin=\"round\">\n<title>{0}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" {1}/>\n\
         <text x=\"12\" y=\"20\" font-size=\"13\" font-weight=\"600\" {2}>{0}</text>\n",
        escaped(title),
        painted("fill", theme.background),
        painted("fill", theme.text),
    );
    let mut pen = Pen { out: &mut out, clips: 0 };
    let mut top = HEAD;
    for sketch in sketches {
        pen.sketch(sketch, top);
        top += sketch.height;
    }
    out + "</svg>\n"
}

struct Pen<'a> {
    out: &'a mut String,
    /// Number of clips so far, because each one needs its own id.
    clips: usize,
}

impl Pen<'_> {
    fn sketch(&mut self, sketch: &Sketch, top: f64) {
        let Sketch { ops, width, height } = sketch;
        // A nested document clips what is outside of the element.
        self.put(&format!("<svg y=\"{}\" width=\"{}\" height=\"{}\">\n", short(top), short(*width), short(*height)));
        let mut open = 0_usize;
        for op in ops {
            match op {
                Op::Clip(rect) => {
                    self.clip(*rect);
                    open += 1;
                }
                Op::Unclip if open > 0 => {
                    self.put("</g>\n");
                    open -= 1;
                }
                Op::Unclip => (),
                op => self.draw(op),
            }
        }
        (0..open).for_each(|_| self.put("</g>\n"));
        self.put("</svg>\n");
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn clip(&mut self, rect: Rect) {
        self.clips += 1;
        let name = format!("clip{}", self.clips);
        self.put(&format!(
            "<clipPath id=\"{name}\"><rect {}/></clipPath>\n<g clip-path=\"url(#{name})\">\n",
            place(rect)
        ));
    }

    fn draw(&mut self, op: &Op) {
        // Writing to a string cannot fail.
        let _ = match op {
            Op::Fill { rect, radius, color } => {
                let rounded = if *radius > 0.0 { format!(" rx=\"{}\"", short(*radius)) } else { String::new() };
                writeln!(self.out, "<rect {}{rounded} {}/>", place(*rect), painted("fill", *color))
            }
            Op::Line { from, to, width, color, dashed } => {
                let dashes = if *dashed { " stroke-dasharray=\"3 3\"" } else { "" };
                let (from, to) = ([short(from.0), short(from.1)], [short(to.0), short(to.1)]);
                let stroke = painted("stroke", *color);
                let [[x0, y0], [x1, y1]] = [from, to];
                writeln!(self.out, "<path d=\"M{x0} {y0}L{x1} {y1}\" stroke-width=\"{width}\"{dashes} {stroke}/>")
            }
            Op::Text { x, y, text, align, font, color, halo } => {
                let anchor = match align {
                    Align::Left => "",
                    Align::Center => " text-anchor=\"middle\"",
                    Align::Right => " text-anchor=\"end\"",
                };
                let weight = if *font == super::overlay::Font::Strong { " font-weight=\"600\"" } else { "" };
                let halo = halo.map_or_else(String::new, |halo| {
                    format!(" paint-order=\"stroke\" stroke-width=\"3\" {}", painted("stroke", halo))
                });
                // Programs disagree about the middle of a line of text, so the baseline is placed by hand.
                let y = y + font.size() * 0.35;
                let (x, y, size, fill) = (short(*x), short(y), font.size(), painted("fill", *color));
                let words = escaped(text);
                writeln!(
                    self.out,
                    "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{weight}{halo} {fill}>{words}</text>"
                )
            }
            Op::Dot { at, radius, color, ring } => {
                let (x, y, radius) = (short(at.0), short(at.1), short(*radius));
                let (fill, stroke) = (painted("fill", *color), painted("stroke", *ring));
                writeln!(
                    self.out,
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" stroke-width=\"1.5\" {stroke} {fill}/>"
                )
            }
            Op::Clip(_) | Op::Unclip => Ok(()),
        };
    }
}

fn place(Rect { x, y, width, height }: Rect) -> String {
    let (width, height) = (width.max(0.0), height.max(0.0));
    format!("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", short(x), short(y), short(width), short(height))
}

/// Returns a colour as attributes, which all programs understand; `how` is `fill` or `stroke`.
fn painted(how: &str, color: Color) -> String {
    let opacity = if color.alpha < 1.0 { format!(" {how}-opacity=\"{:.3}\"", color.alpha) } else { String::new() };
    format!("{how}=\"#{:06x}\"{opacity}", color.rgb)
}

/// Formats a length with at most two decimals.
fn short(length: f64) -> String {
    let text = format!("{length:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::overlay::Font;

    fn sketch(ops: Vec<Op>) -> Sketch {
        Sketch { ops, width: 300.0, height: 100.0 }
    }

    fn text(text: &str) -> Op {
        let (text, color) = (text.to_owned(), Color::new(0x112233));
        Op::Text { x: 10.0, y: 20.0, text, align: Align::Right, font: Font::Strong, color, halo: Some(Color::new(0)) }
    }

    #[test]
    fn every_operation_has_its_shape() {
        let rect = Rect { x: 1.0, y: 2.5, width: 30.0, height: 4.0 };
        let color = Color::new(0xff8800).with_alpha(0.5);
        let ops = vec![
            Op::Clip(rect),
            Op::Fill { rect, radius: 2.0, color },
            Op::Unclip,
            Op::Line { from: (0.0, 1.0), to: (2.0, 1.0), width: 1.5, color, dashed: true },
            text("forward"),
            Op::Dot { at: (5.0, 6.0), radius: 3.0, color, ring: Color::new(0) },
        ];
        let svg = svg("a <b>", [&sketch(ops)].into_iter(), &Theme::light());
        for part in [
            "<title>a &lt;b&gt;</title>",
            "<g clip-path=\"url(#clip1)\">\n<rect x=\"1\" y=\"2.5\" width=\"30\" height=\"4\" rx=\"2\" fill=\"#ff8800\" fill-opacity=\"0.500\"/>\n</g>",
            "<path d=\"M0 1L2 1\" stroke-width=\"1.5\" stroke-dasharray=\"3 3\" stroke=\"#ff8800\"",
            "text-anchor=\"end\" font-weight=\"600\" paint-order=\"stroke\"",
            ">forward</text>",
            "<circle cx=\"5\" cy=\"6\" r=\"3\"",
        ] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
        let count = |part: &str| svg.matches(part).count();
        assert_eq!((count("<svg"), count("<g")), (count("</svg>"), count("</g>")));
    }

    #[test]
    fn texts_of_a_snapshot_are_no_markup() {
        let svg = svg("t", [&sketch(vec![text("<script>&\"")])].into_iter(), &Theme::dark());
        assert!(!svg.contains("<script>") && svg.contains("&lt;script&gt;&amp;"), "{svg}");
    }

    #[test]
    fn sketches_stand_below_each_other() {
        let (one, other) = (sketch(vec![text("one")]), sketch(vec![text("other"), Op::Clip(Rect::default())]));
        let svg = svg("t", [&one, &other].into_iter(), &Theme::light());
        assert!(svg.contains("viewBox=\"0 0 300 230\"") && svg.contains("<svg y=\"130\""), "{svg}");
        assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count(), "what is open at the end is closed");
    }
}
