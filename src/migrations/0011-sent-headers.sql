-- Up Migration

-- What of an attempt's headers cannot be told by its row and its event: the attempt's number, the program's version, the
-- host, the names of the webhook's own headers and the signatures. Null where no request went out, where that is not
-- known, and of attempts by earlier versions. These replace the last attempt of a finished delivery without touching
-- this column, so it counts only with the number of the attempt.
alter table deliveries add column request_headers text;
alter table attempts add column request_headers text;
