-- What a list of jobs shows of their configs, so that it reads none: null for jobs from before, whose configs are read.
ALTER TABLE recording_jobs ADD COLUMN card TEXT;
ALTER TABLE recording_jobs ADD COLUMN steps BIGINT;

-- Bytes of a job's texts and of its events, which count in the quota.
ALTER TABLE recording_jobs ADD COLUMN text_bytes BIGINT NOT NULL DEFAULT 0;
UPDATE recording_jobs SET text_bytes = OCTET_LENGTH(config) + OCTET_LENGTH(source) + OCTET_LENGTH(notes)
    + COALESCE(OCTET_LENGTH(result), 0) + COALESCE(OCTET_LENGTH(error), 0) + COALESCE(OCTET_LENGTH(log), 0)
    + COALESCE(OCTET_LENGTH(curve), 0)
    + COALESCE((SELECT SUM(OCTET_LENGTH(body)) FROM recording_events WHERE job = recording_jobs.id), 0);
-- They are added up from the index: in a row they come after its texts.
CREATE INDEX recording_jobs_by_bytes ON recording_jobs (text_bytes);

-- How much may be kept, as the server that started last says; null for any number.
CREATE TABLE room (
    -- 1: there is one row. Whoever changes it is alone in counting until the end of the transaction.
    single BIGINT PRIMARY KEY CHECK (single = 1),
    quota_bytes BIGINT,
    most_waiting BIGINT
);
INSERT INTO room (single) VALUES (1);
