-- The memory of a recording over its events, as JSON: null for jobs without a snapshot, and for those recorded before.
-- It stands by itself, since lists of jobs do not show it.

ALTER TABLE recording_jobs ADD COLUMN curve TEXT;
