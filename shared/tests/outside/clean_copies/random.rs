//! Checks that a name in any cut folder is removed, whatever the paths of a cluster look like.

use super::export_len;
use crate::support::copies::{Place, clean, empty, put, read};
use crate::support::frame_kinds::kinds;
use crate::support::stored::Random;
use shared::trace::Frame;

/// A person's name, which no other test uses.
const NAME: &str = "secretname";

/// Folders in which a cluster may keep personal data; `@` is the name.
const TOPS: &str = r"/fsx/@/ /data/@/ /data2/users/@/ /mnt/nfs/@/ /afs/cern.ch/user/s/@/ /global/homes/s/@/ /gpfs/group/@/
    /lustre/fs3/acme/@/ /cluster/work/acme/@/ /storage/home/hcoda1/5/@/ /unheard-of/@/ /unheard-of/acme/@/ /@/ /home/@/
    /Users/@/ ~@/ ../../../data/@/ //fsx//@/./ /tmp/torchinductor_@/ /tmp/ray/session_@/ /net/@/ dbfs:/Users/@/ C:\Users\@\
    D:\acme\@\ \\@\team\ \\nas\@\";

/// Folders of a project; those with the name are personal as well.
const PARTS: &str = "proj|acme|src|models|lib|python3.12|site-packages|Lib|Python311|..|.|é|*|a b|@-run|@";

const FILES: [&str; 8] = ["train.py", "a.cpp", "libx.so.1", "x", "kernel.cu", "@.py", "my_@.py", "é.py"];

fn path(random: &mut Random) -> String {
    let slash = random.one_of(&["/", "/", "\\", "//"]);
    let mut path = random.one_of(&TOPS.split_whitespace().collect::<Vec<_>>()).to_owned();
    for _ in 0..random.below(5) {
        path.push_str(random.one_of(&PARTS.split('|').collect::<Vec<_>>()));
        path.push_str(slash);
    }
    path.push_str(random.one_of(&FILES));
    let name = random.one_of(&[NAME, "SecretName", "SECRETNAME"]);
    path.replace('@', name)
}

/// Creates a text that may contain the name, which the paths reveal to the sanitizer.
fn note(random: &mut Random) -> String {
    let note =
        random.one_of(&["@'s step", "step of @_2", "-I/fsx/@/inc", "s3://@/x", "@@gpu-17.corp", "user: @", "step"]);
    note.replace('@', NAME).replace(&NAME.repeat(2), &format!("{NAME}@"))
}

#[test]
fn no_place_keeps_a_name_or_becomes_longer() {
    let mut straight = 0;
    for seed in 0..3000 {
        let mut random = Random(seed);
        let mut trace = empty();
        let name = trace.strings.intern("f");
        let files: Vec<String> = (0..1 + random.below(6)).map(|_| path(&mut random)).collect();
        let frames: Vec<_> = files
            .iter()
            .map(|file| {
                let filename = trace.strings.intern(file);
                trace.frames.intern(Frame { name, filename, line: 1, fx: None })
            })
            .collect();
        let stack = trace.stacks.intern(&frames);
        trace.devices[0].segments.blocks[0].stack = stack;
        let note = note(&mut random);
        put(&mut trace, Place::Annotation, &note);
        trace.check();

        let (bytes, report) = clean(&trace);
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        assert!(!text.contains(NAME), "seed {seed}: {files:?} {note:?}: {:?}", report.remaining);
        let copy = read(&bytes);
        // Paths with detours are straightened, and then more frames are recognised as those of the runtime.
        let is_straight = |file: &String| !["//", "/.", "\\.", "\\/", "/\\"].iter().any(|bend| file.contains(bend));
        if files.iter().all(is_straight) {
            straight += 1;
            let copied = copy.devices[0].segments.blocks[0].stack;
            assert_eq!(kinds(&trace, stack), kinds(&copy, copied), "seed {seed}: {files:?}");
        }
        assert_eq!(clean(&copy).0, bytes, "seed {seed}: {files:?} is changed again");
        assert!(bytes.len() <= export_len(&trace), "seed {seed}: {files:?}");
    }
    assert!(straight > 100, "{straight} of the stacks are compared");
}
