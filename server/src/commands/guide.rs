//! Groups the commands in the help of the program and gives each an example, in the terminal and in the manual page.

use std::io;

use clap::{Arg, Command};
use clap_complete::Shell;
use shared::base::format;
use shared::job::Card;

use super::text::table;

/// The commands by group, each with examples; those that most people need come first.
const GROUPS: &[(&str, &[(&str, &str)])] = &[
    (
        "Start here",
        &[
            ("record", "snapscope record -- python train.py"),
            ("run", "snapscope run --card t4-16gb -- python train.py"),
            ("diagnose", "snapscope diagnose snapshot.pickle\n  python train.py 2>&1 | snapscope diagnose -"),
            ("open", "snapscope open snapshot.pickle\n  snapscope open --text snapshot.pickle"),
            ("demo", "snapscope demo"),
        ],
    ),
    (
        "Look into snapshots",
        &[
            ("inspect", "snapscope inspect snapshot.pickle"),
            ("peak", "snapscope peak snapshot.pickle"),
            ("source", "snapscope source snapshot.pickle --source ."),
            ("segments", "snapscope segments snapshot.pickle"),
            ("diff", "snapscope diff before.pickle after.pickle"),
            ("ranks", "snapscope ranks rank*.pickle"),
            (
                "replay",
                "snapscope replay snapshot.pickle --settings expandable_segments:True\n  \
                 snapscope replay snapshot.pickle --sweep",
            ),
            ("report", "snapscope report snapshot.pickle --attach memory.pickle.gz"),
            ("export", "snapscope export snapshot.pickle --to html -o report.html"),
        ],
    ),
    (
        "Training configs, without a script",
        &[
            ("repro", "snapscope repro config.toml -o snapshot.pickle"),
            ("fit", "snapscope fit -- python train.py --batch-size {}\n  snapscope fit config.toml"),
            ("fix", "snapscope fix --card t4-16gb -- python train.py\n  snapscope fix config.toml"),
            ("sweep", "snapscope sweep config.toml --batch 1,2,4"),
            ("cards", "snapscope cards"),
        ],
    ),
    ("Host memory", &[("host", "snapscope host -o host.csv -- python train.py")]),
    (
        "Teams and other programs",
        &[
            ("ci", "snapscope ci run --base origin/main -- python train.py"),
            ("serve", "snapscope serve --listen 127.0.0.1:8080"),
            ("worker", "snapscope worker --help"),
            ("data", "snapscope data check --help"),
            ("mcp", "snapscope mcp"),
            ("completions", "source <(snapscope completions bash)"),
            ("man", "snapscope man | man -l -"),
        ],
    ),
];

/// Adds the groups to the help of the program, and the examples to that of each command.
pub fn guided(program: Command) -> Command {
    let mut groups = String::new();
    for (group, commands) in GROUPS {
        let about = |name: &str| program.find_subcommand(name)?.get_about().map(ToString::to_string);
        let row = |(name, _): &(&str, _)| vec![format!("  {name}"), about(name).unwrap_or_default()];
        // Of one width in all groups.
        let rows = [vec![" ".repeat(13)]].into_iter().chain(commands.iter().map(row)).collect::<Vec<_>>();
        groups += &format!("{group}:\n{}\n\n", table(&rows, &[])[1..].join("\n"));
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}\n\n\
         `snapscope COMMAND --help` shows the options of a command, and an example."
    );
    program.help_template(template).mut_subcommands(|command| {
        let all = GROUPS.iter().flat_map(|(_, commands)| *commands);
        let Some((_, examples)) = all.into_iter().find(|(name, _)| *name == command.get_name()) else { return command };
        let more = command.get_after_help().map_or_else(String::new, |more| format!("{more}\n\n"));
        command.after_help(format!("{more}Example:\n  {examples}"))
    })
}

/// Returns the script that completes the commands and options in a shell.
pub fn completions(shell: Shell, mut program: Command) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, "snapscope", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Returns the manual page of the program with all its commands, in roff.
pub fn manual(mut program: Command) -> io::Result<String> {
    let mut page = Vec::new();
    program.build();
    let man = clap_mangen::Man::new(program.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let mut page = String::from_utf8_lossy(&page).into_owned();
    for command in program.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help") {
        // What all commands have stands at the top.
        let is_of_all = |arg: &Arg| arg.is_global_set() || arg.get_id() == "help";
        let own = command.clone().mut_args(|arg| if is_of_all(&arg) { arg.hide(true) } else { arg });
        let mut section = Vec::new();
        let man = clap_mangen::Man::new(own);
        man.render_description_section(&mut section)?;
        man.render_options_section(&mut section)?;
        man.render_extra_section(&mut section)?;
        let section =
            String::from_utf8_lossy(&section).replace(".SH OPTIONS", ".SS OPTIONS").replace(".SH EXTRA", ".PP");
        page += &section.replace(".SH DESCRIPTION", &format!(".SH \"snapscope {}\"", command.get_name()));
    }
    Ok(page)
}

pub fn cards() -> String {
    let row = |card: &Card| {
        vec![card.name.clone(), format::bytes(card.memory_bytes), card.capability.to_string(), card.product.clone()]
    };
    let head = ["Card", "Memory", "Capability", "Product"].map(str::to_owned).to_vec();
    let rows: Vec<_> = [head].into_iter().chain(Card::named_cards().iter().map(row)).collect();
    let more = "`--card` of run, repro, fit and sweep takes these names, short ones such as h100 and 3090, and others as \
                custom:48GiB.";
    format!("{}\n\n{more}\n", table(&rows, &[1]).join("\n"))
}
