//! Recordings: the keeper against recorders that misbehave, the command, and real recordings.

mod command;

mod keeper;
