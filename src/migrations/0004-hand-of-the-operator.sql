-- What an operator does for or against one shipper.

--   rate_limit       its API requests per second, instead of API_RATE_LIMIT; null: as that says
--   max_concurrency  its attempts in flight in each worker; null: no limit
alter table shippers add column rate_limit integer, add column max_concurrency integer;
-- Each worker reads those every few seconds.
create index shippers_limited on shippers (shipper_id) where max_concurrency is not null;

-- While an operator has paused a webhook: the status that it gets back. It counts only while the status is PAUSED.
alter table webhooks add column resumes_as text;

-- OPERATOR if an operator asked for it; null: its shipper.
alter table replays add column requested_by text;
alter table redeliveries add column requested_by text;
