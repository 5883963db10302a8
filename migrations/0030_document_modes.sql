-- How a delivery carries the file of its payment: null for inline, as ever. It is decided with the fan-out and stays,
-- so that every attempt and every replay has the same bytes, whatever the endpoint's setting becomes.
alter table pending_deliveries add column document_mode text;
alter table final_deliveries add column document_mode text;

-- As it was (0026), but for the mode of what has a document.
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
    returning client_key, id, payment_id, account_id, sequence, kind, document_hash
  ), owed as (
    -- As in core/fan-out.ts: one for each endpoint that exists now and hears the kind, whatever its status.
    insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
      sequence, kind, shard, created_at, next_attempt_at, document_mode)
    select h.client_key, (left(h.id::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid,
      h.id, e.id, h.payment_id, h.account_id, h.sequence, h.kind, e.shard, accepted, accepted,
      case when h.document_hash is not null then nullif(e.document, 'inline') end
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
