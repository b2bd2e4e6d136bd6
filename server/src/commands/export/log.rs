//! Exports the report on a log.

use clap::ValueEnum as _;
use logs::{Log, log_report};
use shared::draw::theme::Theme;
use shared::export::{LogForm, log_picture};

use super::args::ExportArgs;
use crate::Failure;
use crate::canvas::png;

impl ExportArgs {
    /// Writes the report on a log and returns its size in bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the form or an option is for snapshots only, if the log has no curves to draw, or if the
    /// output cannot be written.
    pub(super) fn write_log(&self, log: &Log) -> Result<u64, Failure> {
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
