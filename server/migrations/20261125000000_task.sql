-- What a job does: `record` makes one recording, `fit` and `sweep` make several.
ALTER TABLE recording_jobs ADD COLUMN task TEXT NOT NULL DEFAULT 'record';
-- The document of a job that makes several recordings, as JSON; lists of jobs do not show it.
ALTER TABLE recording_jobs ADD COLUMN report TEXT;
