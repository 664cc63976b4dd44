-- Each earlier secret signs until its own time, sealed as the current one is: [{"secret", "until"}], the newest last.
alter table webhooks add column earlier_secrets jsonb not null default '[]';
update webhooks
   set earlier_secrets = jsonb_build_array(jsonb_build_object('secret', previous_secret, 'until', previous_secret_until))
 where previous_secret is not null and previous_secret_until > now();
alter table webhooks drop column previous_secret, drop column previous_secret_until;

-- What has failed since failing_since, for a verdict needs more than time:
--   failed_attempts    without attempts by hand
--   failed_deliveries  theirs, at most as many as a verdict needs
--   last_failed_at     the last of them
alter table circuits
  add column failed_attempts integer not null default 0,
  add column failed_deliveries uuid[] not null default '{}',
  add column last_failed_at timestamptz;

-- Processes whose clocks differ from this server's by more than half a minute. Each renews its row, and deletes it once
-- its clock is right.
--   ahead_ms  negative of one that is behind
create table wrong_clocks (
  process_id uuid primary key,
  role text not null,
  host text not null,
  ahead_ms bigint not null,
  seen_at timestamptz not null
);
