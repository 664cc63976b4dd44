-- When a webhook fails, and what its owner was told of it.

--   last_failure  the status of the last failure's response, or its error code
--   told          of this failing: 0 nothing, 1 that it fails, 2 and 3 when it will be disabled, 72 and 24 hours before
alter table circuits add column last_failure text, add column told smallint not null default 0;
update circuits set told = 1 where open_until is not null;

-- Deliveries whose retries are used up, until their webhook's owner is told.
create table exhausted_deliveries (
  webhook_id uuid not null,
  delivery_id uuid not null,
  shipment_id uuid not null,
  primary key (webhook_id, delivery_id)
);

--   exhausted_told_at  when its owner was last told of such
alter table webhooks add column exhausted_told_at timestamptz;

-- Whom its owner wants told by e-mail, as given; null: nobody.
alter table webhooks add column notify_email text;

-- Addresses that were asked to confirm because they are no user's, in lower case.
--   token_hash  of the link that confirms it, good until expires_at
create table notify_addresses (
  shipper_id uuid not null references shippers on delete cascade,
  email text not null,
  asked_at timestamptz not null default now(),
  confirmed_at timestamptz,
  token_hash bytea unique,
  expires_at timestamptz,
  primary key (shipper_id, email)
);

-- Notices that are to be mailed, each by itself or in a summary.
--   facts  what the mail says (Facts in webhooks/mails/owed.ts)
create table notices_to_mail (
  notice_id uuid primary key,
  shipper_id uuid not null references shippers on delete cascade,
  webhook_id uuid not null,
  recorded_at timestamptz not null default now(),
  facts jsonb not null
);
create index notices_to_mail_of_shipper on notices_to_mail (shipper_id, recorded_at);

-- The mails about webhooks that a shipper was sent on its last day with any (UTC), and when its last summary was made.
create table mail_budgets (
  shipper_id uuid primary key references shippers on delete cascade,
  day date not null,
  sent integer not null,
  summed_at timestamptz
);

alter table mails
  add column shipper_id uuid references shippers on delete cascade,
  add column webhook_id uuid;
create index mails_of_shipper on mails (shipper_id) where shipper_id is not null;
