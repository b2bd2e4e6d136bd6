-- Why a worker cannot record on a kind of device, in a sentence; NULL if it can.
ALTER TABLE recording_workers ADD COLUMN problem TEXT;
