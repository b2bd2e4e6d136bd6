-- Workers take jobs from this table: the next one of a kind has the highest priority, and of those is the oldest.
CREATE INDEX recording_jobs_next ON recording_jobs (kind, priority DESC, id) WHERE state = 'queued';
