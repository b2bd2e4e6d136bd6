//! Cleans the tables of a trace for a copy that is shown to others, as its options say.
//!
//! Different files of frames get different names after their paths were shortened.

use super::hosts::{is_public, is_public_symbol, package_of};
use super::names::{Names, SortedNames};
use super::paths::{self, Projects};
use super::report::{Package, SanitizeReport, Tables, remaining};
use super::secrets::{self, Language, PLAIN_VALUES, without_secrets};
use super::texts::with_paths;
use crate::allocator::{self, ConfError, TorchVersion, options};
use crate::analysis::without_names;
use crate::base::{ShortSort, StringId};
use crate::trace::{Annotation, EventContext, Frame, FrameId, FxNode, LinesId, Setting, Settings, StackId, Trace};
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;

/// Maximum number of times that a text is cleaned; two or three are enough for all texts that were tried.
const MAX_PASSES: usize = 32;

/// Role of a text, which decides how it is cleaned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Role {
    /// File of a frame: the whole text is a path.
    File,
    /// File or function of a public package, where a name is a coincidence: Adam is an optimizer.
    Public,
    /// Symbol, or lines of source.
    Code,
    /// Text written by a person, which may name anything.
    Prose,
    /// Text written by a person about an allocation.
    Metadata,
}

struct Cleaner<'a> {
    trace: &'a Trace,
    options: &'a SanitizeOptions,
    projects: Projects,
    names: SortedNames,
    asked_names: SortedNames,
    files: HashMap<StringId, String>,
    tables: Tables,
    report: SanitizeReport,
    known: HashMap<(Role, StringId), StringId>,
}

impl Tables {
    /// Cleans the tables of a trace and reports what was taken out.
    pub(super) fn clean(trace: &Trace, options: &SanitizeOptions) -> (Self, SanitizeReport) {
        let projects = projects(trace);
        let names = names(trace, options, &projects);
        let unknown = trace.diagnostics.iter().filter(|diagnostic| diagnostic.code == "unknown-keys");
        let unknown_keys = unknown.map(|found| found.count).sum();
        let report = SanitizeReport { names: names.clone(), unknown_keys, ..Default::default() };
        let mut cleaner = Cleaner {
            trace,
            options,
            projects,
            names: SortedNames::new(&names),
            asked_names: SortedNames::new(&asked_names(options).into_sorted()),
            files: HashMap::new(),
            tables: Self::default(),
            report,
            known: HashMap::new(),
        };
        cleaner.files();
        let frame_ids = cleaner.frames();
        cleaner.stacks(&frame_ids);
        cleaner.contexts();
        cleaner.annotations();
        cleaner.settings();
        cleaner.report.remaining = remaining(&cleaner.tables);
        (cleaner.tables, cleaner.report)
    }
}

impl Cleaner<'_> {
    /// Computes the clean name of each file of a frame.
    fn files(&mut self) {
        let trace = self.trace;
        let mut cleaned = Vec::new();
        for id in distinct(trace) {
            let file = trace.strings.whole(id);
            cleaned.push((id, self.cleaned(if is_public(file) { Role::Public } else { Role::File }, file)));
        }
        self.files = told_apart(trace, cleaned);
    }

    /// Cleans the frames and returns their handles in the copy; `None` for frames that it leaves out.
    fn frames(&mut self) -> Vec<Option<FrameId>> {
        let mut packages: HashMap<String, Package> = HashMap::new();
        let mut ids = Vec::with_capacity(self.trace.frames.len());
        for frame in self.trace.frames.iter() {
            let name = package_of(self.trace.strings.whole(frame.filename));
            let is_kept = self.options.packages.as_ref().is_none_or(|kept| kept.contains(&name));
            let package =
                packages.entry_ref(&name).or_insert_with(|| Package { name: name.clone(), frames: 0, is_kept });
            package.frames += 1;
            ids.push(is_kept.then(|| self.frame(frame)));
        }
        let mut packages: Vec<Package> = packages.into_values().collect();
        packages.short_sort_by(|a, b| b.frames.cmp(&a.frames).then_with(|| a.name.cmp(&b.name)));
        self.report.packages = packages;
        ids
    }

    fn frame(&mut self, frame: &Frame) -> FrameId {
        let text = |id| self.trace.strings.whole(id);
        let is_public = is_public(text(frame.filename)) || is_public_symbol(text(frame.name), text(frame.filename));
        let name = self.text(if is_public { Role::Public } else { Role::Code }, frame.name);
        let filename = self.tables.strings.intern(&self.files[&frame.filename]);
        let fx = frame.fx.map(|FxNode { op, name, target, original_trace }| {
            let [op, name, target, original_trace] =
                [op, name, target, original_trace].map(|text| self.text(Role::Code, text));
            FxNode { op, name, target, original_trace }
        });
        self.tables.frames.intern(Frame { name, filename, line: frame.line, fx })
    }

    fn stacks(&mut self, frame_ids: &[Option<FrameId>]) {
        let table = &self.trace.stacks;
        self.tables.stack_ids = vec![StackId::NONE, StackId::EMPTY];
        for id in table.ids() {
            let frames: Vec<FrameId> = table.frames(id).iter().filter_map(|frame| frame_ids[frame.index()]).collect();
            let id = self.tables.stacks.intern(&frames);
            self.tables.stack_ids.push(id);
        }
    }

    fn contexts(&mut self) {
        // Many events share the lines of one forward pass.
        let mut known: HashMap<LinesId, LinesId> = HashMap::new();
        for context in self.trace.contexts.iter() {
            let forward_frames = *known.entry(context.forward_frames).or_insert_with_key(|&lines| {
                let lines = self.trace.contexts.lines(lines);
                let lines: Vec<StringId> = lines.iter().map(|&line| self.text(Role::Code, line)).collect();
                self.tables.contexts.intern_lines(&lines)
            });
            let clean = EventContext {
                stream: context.stream,
                pool: context.pool,
                compile_context: self.text(Role::Prose, context.compile_context),
                user_metadata: self.metadata(context.user_metadata),
                internal_metadata: self.text(Role::Prose, context.internal_metadata),
                category: self.text(Role::Prose, context.category),
                forward_frames,
            };
            let id = self.tables.contexts.intern(clean);
            self.tables.context_ids.push(id);
        }
    }

    /// Returns the metadata of a copy, which keeps what our recorder says about the purposes of tensors.
    fn metadata(&mut self, id: StringId) -> StringId {
        let text = self.trace.strings.whole(id);
        let left = without_names(text).unwrap_or_default();
        if !self.options.drop_metadata || left == text {
            return self.text(Role::Metadata, id);
        }
        let clean = self.tables.strings.intern(&left);
        if self.known.insert((Role::Metadata, id), clean).is_none() {
            self.report.metadata.add(text, &left);
        }
        clean
    }

    fn annotations(&mut self) {
        if self.options.drop_annotations {
            self.report.annotations = self.trace.annotations.len() as u64;
            return;
        }
        for annotation in &self.trace.annotations {
            let name = self.text(Role::Prose, annotation.name);
            self.tables.annotations.push(Annotation { name, ..*annotation });
        }
    }

    /// Cleans the settings; if several names become equal, the last setting is kept, as a reader of the copy would do.
    fn settings(&mut self) {
        let entries = self.trace.settings.entries.iter().map(|(name, setting)| {
            let setting = match setting {
                Setting::Text(text) => Setting::Text(self.setting(text)),
                Setting::Table(rows) => Setting::table(rows.iter().map(|(key, n)| (self.setting(key), *n)).collect()),
                other => other.clone(),
            };
            (self.cleaned(Role::Prose, name), setting)
        });
        let entries: BTreeMap<String, Setting> = entries.collect();
        self.tables.settings = Settings { entries: entries.into_iter().collect() };
    }

    /// Returns the text of a setting with `*` in place of all that is no known option of the allocator.
    fn setting(&mut self, text: &str) -> String {
        if !self.options.remove_names {
            return self.cleaned(Role::Prose, text);
        }
        let known: Vec<&str> = options(text).map(|option| if is_known(option) { option } else { "*" }).collect();
        let clean = known.join(",");
        if clean != text {
            self.report.texts.add(text, &clean);
        }
        clean
    }

    /// Returns the handle of a clean text; each text is cleaned and counted once per role.
    fn text(&mut self, role: Role, id: StringId) -> StringId {
        if let Some(&known) = self.known.get(&(role, id)) {
            return known;
        }
        let text = self.trace.strings.whole(id);
        let clean = self.cleaned(role, text);
        let clean = self.tables.strings.intern(&clean);
        self.known.insert((role, id), clean);
        clean
    }

    /// Cleans a text until nothing changes, because what one rule leaves may have the shape that another looks for.
    fn cleaned(&mut self, role: Role, text: &str) -> String {
        let mut before = text.to_owned();
        for _ in 1..MAX_PASSES {
            let clean = self.cleaned_once(role, &before);
            if clean == before {
                return clean;
            }
            before = clean;
        }
        self.cleaned_once(role, &before)
    }

    fn cleaned_once(&mut self, role: Role, text: &str) -> String {
        let secretless = match role {
            Role::File | Role::Public => None,
            _ if !self.options.remove_names => None,
            Role::Code => without_secrets(text, Language::Code),
            Role::Prose | Role::Metadata => without_secrets(text, Language::Prose),
        };
        let has_secret = secretless.is_some();
        let mut clean = secretless.unwrap_or_else(|| text.to_owned());
        if self.options.cut_paths
            && let Some(short) = match role {
                Role::File | Role::Public => self.projects.cut(&clean),
                _ => with_paths(&clean, |path| self.projects.cut_inside(path)),
            }
        {
            self.report.paths.add(&clean, &short);
            clean = short;
        }
        let names = if role == Role::Public { &self.asked_names } else { &self.names };
        let nameless = names.without(&clean);
        if has_secret || nameless.is_some() {
            self.report.texts.add(text, nameless.as_deref().unwrap_or(&clean));
        }
        nameless.unwrap_or(clean)
    }
}

/// Returns true for an option of the allocator whose value names nobody, and for such a value alone.
fn is_known(option: &str) -> bool {
    let is_plain = |word: &str| {
        word.is_empty() || word.parse::<f64>().is_ok() || PLAIN_VALUES.iter().any(|w| w.eq_ignore_ascii_case(word))
    };
    let Some((_, value)) = option.split_once(':') else { return is_plain(option.trim()) };
    // Other options may be as small as the segments.
    let conf = allocator::Settings::parse(&format!("large_segment_size_mb:11,{option}"), TorchVersion::default());
    !matches!(conf, Err(ConfError::Invalid { .. }))
        && value.split([':', ',', '[', ']', '>']).map(str::trim).all(is_plain)
}

fn asked_names(options: &SanitizeOptions) -> Names {
    let mut names = Names::default();
    options.names.iter().for_each(|name| names.add(name));
    names
}

/// Returns the names found in paths and settings and the names that the user asked for, longest first.
///
/// Paths are searched in the files of frames and in all other texts, settings such as `USER=ada` in annotations and in
/// those of the allocator.
fn names(trace: &Trace, options: &SanitizeOptions, projects: &Projects) -> Vec<String> {
    let mut names = asked_names(options);
    if options.remove_names {
        let files = distinct(trace);
        files.iter().for_each(|&file| found(&mut names, projects.names(trace.strings.whole(file))));
        let is_file: HashSet<StringId> = files.into_iter().collect();
        let texts = trace.strings.ids().filter(|id| !is_file.contains(id)).map(|id| trace.strings.whole(id));
        let settings = trace.settings.entries.iter().filter_map(|(name, setting)| match setting {
            Setting::Text(text) => Some((name, text.as_str())),
            _ => None,
        });
        for text in texts.chain(settings.clone().map(|(_, text)| text)) {
            with_paths(text, |path| {
                found(&mut names, projects.names_inside(path));
                None
            });
        }
        let annotations = trace.annotations.iter().map(|annotation| trace.strings.whole(annotation.name));
        annotations.for_each(|text| found(&mut names, secrets::names(text)));
        settings.for_each(|(name, text)| found(&mut names, secrets::names(&format!("{name}={text}"))));
    }
    names.into_sorted()
}

fn found(names: &mut Names, words: Vec<String>) {
    words.iter().for_each(|word| names.add_found(word));
}

/// Choice of what is taken out of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SanitizeOptions {
    /// Shortens paths to their part inside the package or project.
    pub cut_paths: bool,
    /// Removes names found in paths and annotations wherever they occur, and hosts, addresses and keys.
    pub remove_names: bool,
    /// Further names to remove.
    pub names: Vec<String>,
    /// Packages whose frames are kept, named as in [`SanitizeReport::packages`](super::SanitizeReport::packages);
    /// `None` keeps all.
    pub packages: Option<Vec<String>>,
    /// Leaves out the users' texts on events (`user_metadata`), except for what our recorder says about purposes.
    pub drop_metadata: bool,
    pub drop_annotations: bool,
}

impl Default for SanitizeOptions {
    /// Keeps everything that explains the memory, and removes what names a person.
    fn default() -> Self {
        Self {
            cut_paths: true,
            remove_names: true,
            names: Vec::new(),
            packages: None,
            drop_metadata: true,
            drop_annotations: false,
        }
    }
}

/// Returns the distinct files of a trace's frames, in the order of the frames.
pub(super) fn distinct(trace: &Trace) -> Vec<StringId> {
    let mut seen = HashSet::new();
    trace.frames.iter().map(|frame| frame.filename).filter(|file| seen.insert(*file)).collect()
}

/// Collects the project folders of a trace.
pub(super) fn projects(trace: &Trace) -> Projects {
    let mut projects = Projects::default();
    distinct(trace).iter().for_each(|&file| projects.learn(trace.strings.whole(file)));
    projects
}

/// Makes equal names of users' files different: the second `model.py` becomes `2/model.py`.
///
/// Names of package files stay equal, because a package is the same in every folder. So do names that a number would
/// make longer than the original path.
pub(super) fn told_apart(trace: &Trace, cleaned: Vec<(StringId, String)>) -> HashMap<StringId, String> {
    let is_own = |id: StringId| paths::is_own(trace.strings.whole(id));
    let (own, others): (Vec<_>, Vec<_>) = cleaned.into_iter().partition(|(id, _)| is_own(*id));
    let mut taken: HashSet<String> = others.iter().map(|(_, text)| text.clone()).collect();
    let mut texts: HashMap<StringId, String> = others.into_iter().collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for (id, text) in own {
        let length = trace.strings.whole(id).len();
        let count = counts.entry_ref(&text).or_insert(1);
        let mut own_text = text.clone();
        while taken.contains(&own_text) && own_text.len() <= length {
            *count += 1;
            own_text = format!("{count}/{text}");
        }
        let own_text = if own_text.len() <= length { own_text } else { text };
        taken.insert(own_text.clone());
        texts.insert(id, own_text);
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], told: &[&str]) {
        let mut trace = Trace::default();
        let cleaned: Vec<_> =
            files.iter().map(|(before, after)| (trace.strings.intern(before), (*after).to_owned())).collect();
        let ids: Vec<_> = cleaned.iter().map(|(id, _)| *id).collect();
        let texts = told_apart(&trace, cleaned);
        assert_eq!(ids.iter().map(|id| texts[id].as_str()).collect::<Vec<_>>(), told);
    }

    #[test]
    fn files_that_differ_still_differ() {
        check(&[("/a/b/x.py", "x.py"), ("/a/c/x.py", "x.py"), ("/d/x.py", "x.py")], &["x.py", "2/x.py", "3/x.py"]);
        check(&[("/a/b/x.py", "x.py"), ("x.py", "x.py"), ("2/x.py", "2/x.py")], &["3/x.py", "x.py", "2/x.py"]);
    }

    #[test]
    fn what_is_known_and_what_would_grow_stay_equal() {
        let torch = "site-packages/torch/f.py";
        check(&[("/a/site-packages/torch/f.py", torch), ("/b/site-packages/torch/f.py", torch)], &[torch, torch]);
        check(&[("x.py", "x.py"), ("/x.py", "x.py")], &["x.py", "x.py"]);
    }
}
