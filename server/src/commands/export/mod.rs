//! Implements `snapscope export`, which writes a snapshot in another form or as a sanitized copy, and the report on a log.

mod args;
pub(super) mod left_out;
mod picture;
pub(super) mod write;

pub use args::ExportArgs;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use logs::{Content, Log, log_report};
use shared::base::format::bytes;
use shared::draw::svg::svg;
use shared::draw::theme::Theme;
use shared::export::{self, LogForm, SanitizeOptions, Sanitized, Subject, Table, log_picture};
use shared::import::Importer;
use shared::pickle::Style;
use shared::trace::Trace;

use crate::Failure;
use crate::canvas::png;
use crate::commands::peak::moment_up_to;
use crate::snapshot_file::{Opened, open_by};
use args::Target;
use picture::PictureName;

impl ExportArgs {
    /// Writes the file and returns the text to print.
    pub fn run(&self) -> Result<String, Failure> {
        self.check()?;
        let file = self.file.display().to_string();
        let trace = match open_by(Importer::new(), Importer::finish, &self.file, &file)? {
            Content::Snapshot(trace) => trace,
            Content::Log(log) => return Ok(self.written(self.write_log(&log)?)),
        };
        let (size_bytes, left_out) = match self.sanitize {
            true => self.write_clean(file, &trace)?,
            false if self.to == Target::Pickle => {
                (self.write(|sink| export::pickle(&trace, Style::Python, sink))?, String::new())
            }
            false => (self.write_derived(&Opened::of(file, trace))?, String::new()),
        };
        Ok(self.written(size_bytes) + &left_out)
    }

    fn written(&self, size_bytes: u64) -> String {
        format!("{}: {}\n", self.output.display(), bytes(size_bytes))
    }

    /// Returns an error if an option does not apply to the chosen form, instead of ignoring it.
    fn check(&self) -> Result<(), Failure> {
        use Target::{Html, Pickle, Png, Speedscope, Svg};
        const PICTURES: &[Target] = &[Svg, Png];
        let is_for = |forms: &[Target]| forms.contains(&self.to);
        let is_timeline = is_for(PICTURES) && self.picture.shows() == PictureName::Timeline;
        let is_table = self.to.table_format().is_some();
        let is_of_moment = is_table || is_for(&[Speedscope, Html]) || is_for(PICTURES) && !is_timeline;
        let wrong = [
            ("--table", self.table.is_some() && !is_table),
            ("--at", self.at.is_some() && !is_of_moment),
            ("--picture", self.picture.picture.is_some() && !is_for(PICTURES)),
            ("--device", self.device.is_some() && is_for(&[Pickle])),
            ("--axis", self.picture.axis.is_some() && !is_timeline),
            ("--first", self.picture.first.is_some() && !is_timeline),
            ("--last", self.picture.last.is_some() && !is_timeline),
            ("--width", self.picture.width.is_some() && !is_for(PICTURES)),
            ("--height", self.picture.height.is_some() && !is_for(PICTURES)),
            ("--dark", self.picture.dark && !is_for(PICTURES)),
        ];
        let Some((option, _)) = wrong.iter().find(|(_, is_wrong)| *is_wrong) else { return Ok(()) };
        let name = |value: Option<PossibleValue>| value.map_or_else(String::new, |v| v.get_name().to_owned());
        let what = match is_for(PICTURES) {
            true => format!("--picture {}", name(self.picture.shows().to_possible_value())),
            false => format!("--to {}", name(self.to.to_possible_value())),
        };
        Err(Failure::new(format!("{option} does not apply to {what}"), "omit it"))
    }

    /// Writes a sanitized copy and returns its size in bytes and the text on what it leaves out.
    ///
    /// Other forms are made from the copy after reading it back, so that they contain no more than the copy.
    fn write_clean(&self, file: String, trace: &Trace) -> Result<(u64, String), Failure> {
        let sanitized = Sanitized::new(trace, &self.options());
        let size_bytes = match self.to {
            Target::Pickle => self.write(|sink| sanitized.pickle(Style::Python, sink, |_| ()))?,
            _ => {
                let mut importer = Importer::new();
                sanitized.pickle(Style::Python, |piece| importer.push(piece).expect("an export can be read"), |_| ());
                self.write_derived(&Opened::of(file, importer.finish().expect("an export can be read")))?
            }
        };
        let report = sanitized.report();
        let list = match self.list_texts {
            true => left_out::list(report),
            false => "List them with --list-texts\n".to_owned(),
        };
        Ok((size_bytes, left_out::report(report) + &list))
    }

    fn options(&self) -> SanitizeOptions {
        SanitizeOptions {
            names: self.drop_name.clone(),
            packages: (!self.keep_package.is_empty()).then(|| self.keep_package.clone()),
            drop_annotations: self.drop_annotations,
            ..SanitizeOptions::default()
        }
    }

    fn write_derived(&self, opened: &Opened) -> Result<u64, Failure> {
        let chosen = match (self.device, self.to) {
            (None, Target::Svg | Target::Png) | (Some(_), _) => vec![opened.choose_device(self.device)?],
            (None, _) => opened.devices().collect(),
        };
        // It is enough that one of the devices has the event.
        let last = chosen.iter().map(|(_, timeline)| timeline.events()).max().unwrap_or(0);
        let moment = self.at.map(|event| moment_up_to(last, event, "")).transpose()?;
        let name = self.name();
        let capacity_bytes = self.capacity;
        let subject = Subject { file: &name, trace: &opened.trace, devices: &chosen, moment, capacity_bytes };
        let table = self.table.unwrap_or(Table::Stacks);
        match self.to {
            Target::Svg | Target::Png => {
                let (device, timeline) = opened.choose_device(self.device)?;
                let (title, sketch) = self.picture.drawn(&name, &opened.trace, (device, timeline), moment)?;
                match self.to {
                    Target::Svg => self.write(|sink| sink(svg(&title, &sketch).as_bytes())),
                    _ => self.write(|sink| sink(&png(&sketch))),
                }
            }
            Target::Csv | Target::Json | Target::Markdown => {
                let format = self.to.table_format().unwrap_or_default();
                self.write(|sink| export::table(&subject, table, format, sink))
            }
            Target::Perfetto => self.write(|sink| export::perfetto(&subject, sink)),
            Target::Speedscope => self.write(|sink| export::speedscope(&subject, sink)),
            Target::Html => self.write(|sink| sink(export::report(&subject).as_bytes())),
            Target::Pickle => self.write(|sink| export::pickle(&opened.trace, Style::Python, sink)),
        }
    }

    /// Writes the report on a log and returns its size in bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the form or an option is for snapshots only, if the log has no curves to draw, or if the
    /// output cannot be written.
    fn write_log(&self, log: &Log) -> Result<u64, Failure> {
        let form = self.log_form()?;
        let report = log_report(log);
        if form.needs_curves() && report.curves.is_empty() {
            let hint = "use --to html, --to json or --to markdown for what it says";
            return Err(Failure::new("the log has no memory over time to draw", hint));
        }
        let name = self.name();
        let theme = if self.picture.dark { Theme::dark() } else { Theme::light() };
        self.write(|sink| match form {
            LogForm::Png => sink(&png(&log_picture(&name, &report, &theme))),
            form => sink(form.text(&name, &report, &theme).0.as_bytes()),
        })
    }

    fn log_form(&self) -> Result<LogForm, Failure> {
        let name = self.to.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let picture = &self.picture;
        let of_snapshots = [
            ("--table", self.table.is_some()),
            ("--at", self.at.is_some()),
            ("--device", self.device.is_some()),
            ("--capacity", self.capacity.is_some()),
            ("--picture", picture.picture.is_some()),
            ("--axis", picture.axis.is_some()),
            ("--first", picture.first.is_some()),
            ("--last", picture.last.is_some()),
            ("--width", picture.width.is_some()),
            ("--height", picture.height.is_some()),
        ];
        if let Some((option, _)) = of_snapshots.iter().find(|(_, is_given)| *is_given) {
            return Err(Failure::new(format!("{option} is for snapshots, and the file is a log"), "omit it"));
        }
        if self.sanitize {
            let hint = "look through the report before you send it: it has the names of users and programs of the log";
            return Err(Failure::new("--sanitize is for snapshots, and the file is a log", hint));
        }
        LogForm::of_name(&name).ok_or_else(|| {
            let forms = LogForm::ALL.map(LogForm::name).join(", ");
            Failure::new(format!("a log cannot be written as {name}"), format!("use one of {forms}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::export::args::Target;

    #[test]
    fn every_form_of_logs_is_a_value_of_to() {
        for form in LogForm::ALL {
            assert!(Target::from_str(form.name(), false).is_ok(), "{form:?}");
        }
    }
}
