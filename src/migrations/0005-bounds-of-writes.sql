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
