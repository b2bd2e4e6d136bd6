//! Gives different files of frames different names after their paths were shortened.

use super::paths::{self, Projects};
use crate::base::StringId;
use crate::trace::Trace;
use hashbrown::{HashMap, HashSet};

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
