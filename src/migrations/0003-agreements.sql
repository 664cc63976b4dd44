-- Hosts that were sent to as fast as DESTINATION_RATE allows.
--   destination   host:port, in lower case
--   asked_at      when its receiver was last asked whether it wants more
--   agreed_at     when it last did; null if never
create table destinations (
  destination text primary key,
  asked_at timestamptz not null,
  agreed_at timestamptz
);

-- The processes that send, which share DESTINATION_RATE.
create table senders (
  sender_id uuid primary key,
  seen_at timestamptz not null
);

-- Until then what is due waits for the pace of its host.
alter table webhooks add column paced_until timestamptz;
