-- What nothing filters by is one text. The phases, addresses and headers of earlier attempts are lost.
--   detail           JSON (send/detail.ts): phases, the receiver's address, headers, and more about the error. Null of a
--                    scheduled success unless LOG_DETAIL=all, where the outcome is unknown, and of an erased shipment
alter table deliveries
  add column detail text,
  drop column dns_ms, drop column connect_ms, drop column tls_ms, drop column first_byte_ms,
  drop column remote_address, drop column error_detail, drop column response_headers, drop column request_headers;
alter table attempts
  add column detail text,
  drop column dns_ms, drop column connect_ms, drop column tls_ms, drop column first_byte_ms,
  drop column remote_address, drop column error_detail, drop column response_headers, drop column request_headers;

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

-- Changes of one thing by one actor within a minute are one line of the audit log: the count and the fields of a line
-- may grow in its first minute. Nothing else of it ever changes.
create function refuse_audit_rewrite() returns trigger
language plpgsql as $$
begin
  if old.at <= now() - interval '1 minute' or new.count <= old.count or not new.fields @> old.fields
     or to_jsonb(new) - array['count', 'fields'] is distinct from to_jsonb(old) - array['count', 'fields'] then
    raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
drop trigger audit_is_append_only on audit;
create trigger audit_is_append_only before truncate on audit
  for each statement execute function refuse_audit_change();
create trigger audit_lines_only_grow before update on audit
  for each row execute function refuse_audit_rewrite();

-- What a shipper had the service store on its last day with any (UTC), against STORED_BYTES_PER_DAY.
create table stored_bytes (
  shipper_id uuid primary key references shippers on delete cascade,
  day date not null,
  bytes bigint not null
) with (fillfactor = 50);
