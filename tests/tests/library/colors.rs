//! Tests the colours: readable on every background in both schemes, and equal in pictures and style sheets.

use shared::analysis::Category;
use shared::draw::color::Color;
use shared::draw::theme::Theme;
use std::collections::BTreeMap;
use testkit::server::root;

/// Colour in the light and in the dark scheme.
type Pair = [Color; 2];

/// Backgrounds of texts and lines.
const GROUNDS: [&str; 9] =
    ["bg", "surface", "raised", "sunken", "hover", "accent-soft", "info-soft", "warning-soft", "error-soft"];

/// Returns the colours of a style sheet by their names without the dashes.
fn named(sheet: &str) -> BTreeMap<String, Pair> {
    let path = root().join("static").join(sheet);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let pairs = text.lines().filter_map(|line| {
        let (name, value) = line.trim().strip_prefix("--")?.split_once(": light-dark(")?;
        let (light, dark) = value.strip_suffix(");")?.split_once(", ")?;
        let color = |text: &str| u32::from_str_radix(text.strip_prefix('#')?, 16).ok().map(Color::new);
        Some((name.to_owned(), [color(light)?, color(dark)?]))
    });
    pairs.collect()
}

/// Checks that each colour has at least the contrast `least` to every background.
#[track_caller]
fn check(colors: &[&str], grounds: &[&str], least: f64) {
    let named = named("tokens.css");
    for (color, ground) in colors.iter().flat_map(|color| grounds.iter().map(move |ground| (color, ground))) {
        for (scheme, place) in [("light", 0), ("dark", 1)] {
            let contrast = named[*color][place].contrast(named[*ground][place]);
            assert!(contrast >= least, "{color} on {ground}, {scheme}: {contrast:.2}");
        }
    }
}

#[test]
fn texts_fields_and_the_focus_stand_out_on_every_ground() {
    let texts =
        ["text", "muted", "faint", "accent", "accent-strong", "info", "warning", "error", "ok", "live", "reserved"];
    check(&texts, &GROUNDS, 4.5);
    check(&["on-accent"], &["accent", "accent-strong"], 4.5);
    check(&["field", "accent"], &["bg", "surface", "raised", "sunken"], 3.0);
}

#[test]
fn categories_have_the_same_colours_everywhere() {
    let named = named("compare.css");
    let themes = [Theme::light(), Theme::dark()];
    for (place, category) in Category::ALL.iter().enumerate() {
        let drawn = themes.map(|theme| theme.categories[place]);
        assert_eq!(named[&format!("part-{}", category.name())], drawn, "{}", category.name());
    }
}

/// Returns the colour as seen without one kind of cones, by Machado, Oliveira and Fernandes (2009), severity 1.
fn seen(color: Color, matrix: [[f64; 3]; 3]) -> [f64; 3] {
    let rgb = color.channels().map(|channel| {
        let value = f64::from(channel) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    });
    lab(matrix.map(|row| row.iter().zip(rgb).map(|(part, channel)| part * channel).sum::<f64>().clamp(0.0, 1.0)))
}

/// Converts linear sRGB to OKLab, by Ottosson (2020).
fn lab([r, g, b]: [f64; 3]) -> [f64; 3] {
    let l = (0.412_221_470_8 * r + 0.536_332_536_3 * g + 0.051_445_992_9 * b).cbrt();
    let m = (0.211_903_498_2 * r + 0.680_699_545_1 * g + 0.107_396_956_6 * b).cbrt();
    let s = (0.088_302_461_9 * r + 0.281_718_837_6 * g + 0.629_978_700_5 * b).cbrt();
    [
        0.210_454_255_3 * l + 0.793_617_785 * m - 0.004_072_046_8 * s,
        1.977_998_495_1 * l - 2.428_592_205 * m + 0.450_593_709_9 * s,
        0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766 * s,
    ]
}

#[test]
fn categories_are_told_apart_by_eyes_without_red_or_green() {
    let protan = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]];
    let deutan = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]];
    for (theme, matrix) in
        [Theme::light(), Theme::dark()].into_iter().flat_map(|theme| [(theme, protan), (theme, deutan)])
    {
        let all = theme.categories.map(|color| seen(color, matrix));
        for (a, b) in (0..all.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let distance = all[a].iter().zip(all[b]).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
            assert!(distance >= 0.09, "{} and {}: {distance:.3}", Category::ALL[a].name(), Category::ALL[b].name());
        }
    }
}

#[test]
fn curves_and_the_accent_have_the_same_colours_everywhere() {
    let named = named("tokens.css");
    let themes = [Theme::light(), Theme::dark()];
    for (name, drawn) in [
        ("live", themes.map(|theme| theme.live)),
        ("reserved", themes.map(|theme| theme.reserved)),
        ("accent", themes.map(|theme| theme.accent)),
        ("oom", themes.map(|theme| theme.oom)),
        ("ok", themes.map(|theme| theme.ok)),
    ] {
        assert_eq!(named[name], drawn, "{name}");
    }
}
