-- What an endpoint hears, and how: settings that its owner may give, and change, at any time.

-- All null: never given, and everything is as if these columns were not there. From the first one that is given,
-- those that have a default are written with it, so that a row says whether its owner knows of settings: answers
-- show them only then. No default here, so that no row is written and the version before this one can insert.
alter table endpoints
  -- Kinds of event, or payment.* for all of them. Null: all.
  add column events text[],
  add column deliver text,
  add column document text,
  add column signatures text[],
  add column hmac_header_name text,
  -- For people.
  add column description text,
  add constraint settings_are_whole check (
    (deliver is null) = (document is null) and (deliver is null) = (signatures is null)
    and (deliver is null) = (hmac_header_name is null)
    and (deliver is not null or (events is null and description is null))) not valid,
  add constraint an_endpoint_hears_something check (cardinality(events) > 0) not valid,
  add constraint deliver_is_known check (deliver in ('every', 'latest')) not valid,
  add constraint document_is_known check (document in ('inline', 'link', 'none')) not valid,
  add constraint the_hmac_is_always_there check ('hmac' = any (signatures)) not valid,
  add constraint description_is_short check (char_length(description) <= 200) not valid;
-- All rows conform already: they are null.
alter table endpoints
  validate constraint settings_are_whole, validate constraint an_endpoint_hears_something,
  validate constraint deliver_is_known, validate constraint document_is_known,
  validate constraint the_hmac_is_always_there, validate constraint description_is_short;

-- As it was (0006), but for the last line of the join: an event that an endpoint does not hear is not owed to it.
create or replace function owe_changes() returns trigger language plpgsql security definer
  set search_path = paybell, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  at_commit timestamptz := clock_timestamp();
  -- Milliseconds, as everywhere.
  accepted timestamptz := date_trunc('milliseconds', at_commit);
  first_tick bigint := floor(extract(epoch from at_commit) * 4096000);
  shards smallint[];
begin
  with ended as (
    delete from changes_at_commit where transaction_id = pg_current_xact_id() returning *
  ), in_order as (
    select *, row_number() over (order by recorded_at, payment_id, sequence) - 1 as place from ended
  ), happened as (
    insert into events (client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
      document_bytes, created_at)
    select client_key, uuid_at(first_tick + place), payment_id, account_id, sequence, kind, text,
      document_hash, document_bytes, accepted
    from in_order order by place
    returning client_key, id, payment_id, account_id, sequence, kind
  ), owed as (
    -- As in core/fan-out.ts: one for each endpoint that exists now and hears the kind, whatever its status.
    insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
      sequence, kind, shard, created_at, next_attempt_at)
    select h.client_key, (left(h.id::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid,
      h.id, e.id, h.payment_id, h.account_id, h.sequence, h.kind, e.shard, accepted, accepted
    from happened h join endpoints e
      on e.client_key = h.client_key and e.deleted_at is null
     and e.scope in (h.account_id, '00000000-0000-0000-0000-000000000000')
     and (e.events is null or e.events && array[h.kind, 'payment.*'])
    returning shard
  )
  select array_agg(distinct shard) into shards from owed;
  -- Notified at the commit and not before (store/wake-ups.ts). The service itself never notifies inside
  -- a business transaction, because of the lock that this takes while it commits; here only the database
  -- knows when the commit happens.
  if shards is not null then
    perform pg_notify('paybell',
      json_build_object('from', 'record_payment', 'shards', shards, 'endpoints', '[]'::json,
        'sinceMs', floor(extract(epoch from accepted) * 1000))::text);
  end if;
  return null;
end $$;
