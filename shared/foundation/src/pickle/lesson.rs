//! Learns templates from the bytes of a record.

use super::Val;
use super::memo::Memo;
use super::opcode::*;
use super::parse::{head, integer, put_len, reference, window};
use super::template::{
    BLOCK_BYTES, Form, KnownLists, ListKey, Memoized, Part, RECORD_VALUES, Record, Role, Source, Template, Word,
};

/// Maximum number of templates.
const MOST_TEMPLATES: usize = 8;
/// Number of templates that may be learnt before any of them was of use.
const FREE_LESSONS: u32 = 64;
/// Number of records that a template has to read for each further lesson.
const RECORDS_PER_LESSON: u32 = 16;
/// Number of dictionaries in a row that no template fits, after which only every [`RARELY`]th is tried.
const MOST_MISSES: u32 = 64;
const RARELY: u32 = 16;

/// The templates of a pickle.
///
/// In a file whose shared values keep changing, learning and comparing would cost more than they save.
/// A template therefore earns each further lesson by the records it reads, and templates that fit nothing are rarely
/// tried.
#[derive(Debug)]
pub(super) struct Templates {
    known: Vec<Template>,
    /// Template of the last record.
    last: usize,
    /// Template that is replaced next.
    oldest: usize,
    /// Records that the templates read, in addition to those spent on lessons.
    credit: u32,
    /// Number of dictionaries since one that a template fitted.
    misses: u32,
    lists: KnownLists,
    record: Record,
    /// Value of [`Memo::rewrites`] when all of this was learnt.
    rewrites: u64,
}

impl Default for Templates {
    fn default() -> Self {
        Self {
            known: Vec::new(),
            last: 0,
            oldest: 0,
            credit: FREE_LESSONS * RECORDS_PER_LESSON,
            misses: 0,
            lists: KnownLists::default(),
            record: Record::default(),
            rewrites: 0,
        }
    }
}

impl Templates {
    /// Reads the record at `start` by a template, and returns the length of its opcodes.
    ///
    /// [`last`](Self::last) has its values.
    #[inline]
    pub(super) fn read(&mut self, input: &[u8], start: usize, memo: &Memo) -> Option<usize> {
        if self.rewrites != memo.rewrites() {
            self.rewrites = memo.rewrites();
            self.known.clear();
            self.last = 0;
            self.lists.clear();
        }
        let Self { known, last, credit, misses, lists, record, .. } = self;
        *misses = misses.wrapping_add(1);
        if *misses > MOST_MISSES && !misses.is_multiple_of(RARELY) {
            return None;
        }
        let source = Source { input, memo, lists };
        for number in (*last..known.len()).chain(0..*last) {
            if let Some(len) = known[number].read(source, start, record) {
                *last = number;
                *credit = credit.saturating_add(1);
                *misses = 0;
                return Some(len);
            }
        }
        None
    }

    /// Returns the record that was read last and its template.
    #[inline]
    pub(super) fn last(&self) -> (&Template, &Record) {
        (&self.known[self.last], &self.record)
    }

    /// Keeps the value of a list that a record has in place.
    pub(super) fn keep_list(&mut self, input: &[u8], key: ListKey, val: Val) {
        self.lists.set(input, key, val);
    }

    /// Returns true if another lesson is earned.
    #[inline]
    pub(super) fn may_learn(&self) -> bool {
        self.credit >= RECORDS_PER_LESSON
    }

    /// Learns from a record that was read in another way.
    #[cold]
    #[inline(never)]
    pub(super) fn learn(&mut self, input: &[u8], memo: &Memo, example: &Example<'_>) {
        self.credit = self.credit.saturating_sub(RECORDS_PER_LESSON);
        self.misses = 0;
        let source = Source { input, memo, lists: &self.lists };
        let Some(template) = learn(source, &mut self.record, example) else { return };
        if self.known.len() < MOST_TEMPLATES {
            self.known.push(template);
        } else {
            self.known[self.oldest] = template;
            self.oldest = (self.oldest + 1) % MOST_TEMPLATES;
        }
    }
}

/// Record from which a template is learnt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Example<'a> {
    pub(super) start: usize,
    pub(super) entries: &'a [Val],
    pub(super) form: &'a Form,
    /// Number of memo entries before it.
    pub(super) memo_len: u64,
}

/// Template that is being learnt.
struct Lesson<'a> {
    source: Source<'a>,
    record: &'a mut Record,
    at: usize,
    /// Index of the next memoized value.
    next: u64,
    /// Bytes since the last varying value, and how many of their opcodes memoize a value.
    same: Vec<u8>,
    puts: u64,
    template: Template,
}

/// Returns the form of a record; `None` if it is written in a way that templates don't cover.
fn learn(source: Source<'_>, record: &mut Record, example: &Example<'_>) -> Option<Template> {
    let Example { start, entries, form, memo_len } = *example;
    let template = Template {
        tag: form.tag,
        blocks: Vec::new(),
        parts: Vec::new(),
        memoized: Vec::new(),
        entries: entries.to_vec(),
        places: [None; RECORD_VALUES],
    };
    let mut lesson = Lesson { source, record, at: start, next: memo_len, same: Vec::new(), puts: 0, template };
    lesson.opcode(EMPTY_DICT)?;
    lesson.put(Memoized::Record)?;
    lesson.opcode(MARK)?;
    for (number, (&role, pair)) in form.roles.iter().zip(entries.chunks_exact(2)).enumerate() {
        let (_, key_len) = reference(lesson.head()?)?;
        lesson.take(key_len)?;
        match role {
            Role::Same => lesson.same_value(pair[1])?,
            Role::Name(place) => lesson.varying(Part::Name(place), place, number)?,
            Role::Integer(place) => lesson.varying(Part::Integer(place), place, number)?,
            Role::List(place) => {
                lesson.varying(Part::List(place), place, number)?;
                lesson.template.memoized.push(Memoized::List);
            }
        }
    }
    lesson.opcode(SETITEMS)?;
    lesson.end_same();
    Some(lesson.template)
}

impl Lesson<'_> {
    fn head(&self) -> Option<[u8; 5]> {
        Some(head(window(self.source.input, self.at)?, 0))
    }

    /// Adds bytes that are the same in every record.
    fn take(&mut self, len: usize) -> Option<()> {
        self.same.extend_from_slice(self.source.input.get(self.at..self.at + len)?);
        self.at += len;
        Some(())
    }

    fn opcode(&mut self, opcode: u8) -> Option<()> {
        (self.source.input.get(self.at) == Some(&opcode)).then(|| self.take(1))?
    }

    /// Adds the opcode that memoizes the last value, if there is one.
    fn put(&mut self, memoized: Memoized) -> Option<()> {
        let len = put_len(self.head()?, self.next);
        match len {
            0 => return Some(()),
            1 => {
                self.take(1)?;
                self.puts += 1;
            }
            // The index grows from record to record.
            _ => {
                self.end_same();
                self.template.parts.push(Part::Put);
                self.at += len;
            }
        }
        self.next += 1;
        self.template.memoized.push(memoized);
        Some(())
    }

    fn same_value(&mut self, val: Val) -> Option<()> {
        let window = window(self.source.input, self.at)?;
        let len = match window[0] {
            BININT1 if window[2] == BININT1 && window[4] == TUPLE2 => 5,
            SHORT_BINUNICODE => 2 + usize::from(window[1]),
            NONE | NEWTRUE | NEWFALSE | EMPTY_LIST | EMPTY_TUPLE => 1,
            LONG_BINGET | BINGET => reference(head(window, 0))?.1,
            _ => integer(window)?.1,
        };
        self.take(len)?;
        self.put(Memoized::Same(val))
    }

    /// Adds the value of an entry that differs from record to record.
    fn varying(&mut self, part: Part, place: usize, entry: usize) -> Option<()> {
        self.end_same();
        let (len, puts) = self.template.step(part, self.source, self.at, self.next, self.record)?;
        self.template.parts.push(part);
        self.template.places[place] = Some(2 * entry + 1);
        self.at += len;
        self.next += puts;
        Some(())
    }

    /// Ends the bytes that are the same in every record.
    fn end_same(&mut self) {
        for bytes in self.same.chunks(BLOCK_BYTES) {
            let (len, puts) = (bytes.len(), std::mem::take(&mut self.puts));
            if len <= 8 {
                self.template.parts.push(Part::Short { word: Word::new(bytes), len, puts });
                continue;
            }
            let mut words = bytes.chunks(8).map(Word::new);
            let block = std::array::from_fn(|_| words.next().unwrap_or_default());
            self.template.parts.push(Part::Long { block: self.template.blocks.len(), len, puts });
            self.template.blocks.push(block);
        }
        self.same.clear();
    }
}
