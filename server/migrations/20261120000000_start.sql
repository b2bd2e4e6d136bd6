-- One dialect for SQLite and PostgreSQL. Times are milliseconds since 1970, documents are JSON.
-- apalis keeps its own tables in the same database: `Jobs` and `Workers`.

CREATE TABLE snapshots (
    -- SHA-256 of the stored bytes, in hexadecimal.
    hash TEXT PRIMARY KEY,
    -- The object's name in the store. It is another one each time that the same bytes come back, so that removing an
    -- object can never take away one that was stored since.
    object TEXT NOT NULL UNIQUE,
    -- Bytes as stored, compressed.
    stored_bytes BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    -- When something last began to refer to it: the sweeper leaves young ones alone.
    touched_ms BIGINT NOT NULL
);

CREATE TABLE recording_jobs (
    id TEXT PRIMARY KEY,
    -- queued, running, finished, failed or cancelled.
    state TEXT NOT NULL,
    -- What it runs on: `virtual`, or a device such as `cuda:0`; each has a queue.
    kind TEXT NOT NULL,
    priority BIGINT NOT NULL,
    name TEXT NOT NULL,
    -- The resolved job.
    config TEXT NOT NULL,
    -- The config as it was submitted, for "run again with".
    source TEXT NOT NULL,
    -- What became of each foreign key.
    notes TEXT NOT NULL,
    idempotency_key TEXT UNIQUE,
    -- Tells a repeated request from another one under the same key.
    request_hash TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    started_ms BIGINT,
    finished_ms BIGINT,
    attempts BIGINT NOT NULL,
    -- Who runs it, and how often that worker has shown that it is alive.
    worker TEXT,
    beats BIGINT NOT NULL,
    cancel_requested BIGINT NOT NULL,
    progress TEXT,
    result TEXT,
    error TEXT,
    -- The recorder's last lines.
    log TEXT,
    snapshot TEXT REFERENCES snapshots (hash)
);

CREATE INDEX recording_jobs_by_time ON recording_jobs (created_ms, id);
CREATE INDEX recording_jobs_by_state ON recording_jobs (state, kind, priority, created_ms);
CREATE INDEX recording_jobs_by_snapshot ON recording_jobs (snapshot);

CREATE TABLE recording_events (
    job TEXT NOT NULL REFERENCES recording_jobs (id) ON DELETE CASCADE,
    -- From 1, without gaps.
    sequence BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (job, sequence)
);

CREATE TABLE shares (
    -- SHA-256 of the token: whoever reads the database still cannot open a link.
    token_hash TEXT PRIMARY KEY,
    delete_hash TEXT NOT NULL,
    snapshot TEXT NOT NULL REFERENCES snapshots (hash),
    title TEXT NOT NULL,
    view_state TEXT NOT NULL,
    -- What a preview shows: figures and the curve.
    digest TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    -- Null for never.
    expires_ms BIGINT
);

CREATE INDEX shares_by_snapshot ON shares (snapshot);
CREATE INDEX shares_by_expiry ON shares (expires_ms);

CREATE TABLE recording_workers (
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    -- How many jobs at once.
    jobs BIGINT NOT NULL,
    seen_ms BIGINT NOT NULL,
    PRIMARY KEY (name, kind)
);
