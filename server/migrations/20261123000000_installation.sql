-- Which installation this is: the store has the same name in it, so that a wrong database empties no store.
CREATE TABLE installation (
    -- 1: there is one row.
    single BIGINT PRIMARY KEY CHECK (single = 1),
    id TEXT NOT NULL,
    -- When the housekeeper last went its round, in milliseconds since 1970: a clock that jumps is seen by it.
    kept_ms BIGINT NOT NULL
);
