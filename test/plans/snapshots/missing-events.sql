-- What server/store/owed/missing-events.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- missing-events.makeMissing: planned each time
prepare "missing-events.makeMissing" (integer[], uuid[], uuid[], uuid[], timestamp with time zone) as
  with missing as materialized (
    select g.client_key, g.id, v.id as event_id, g.endpoint_id, v.payment_id, v.account_id,
    v.sequence, v.kind, v.created_at, e.shard, e.is_active, v.text, v.document_hash,
    v.document_bytes,
    -- As in core/delivery/fan-out.ts.
    case when v.document_hash is not null then nullif(e.document, 'inline') end as document_mode
    from unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[])
    as g (client_key, id, event_id, endpoint_id)
    cross join lateral (
      select e.shard, e.status = 'ACTIVE' as is_active, e.document from endpoints e
      where e.client_key = g.client_key and e.id = g.endpoint_id and e.deleted_at is null
      limit 1) as e
    cross join lateral (
      select v.* from events v
      where v.client_key = g.client_key and v.id = g.event_id
      and v.id >= uuid '019cd435-8500-0000-0000-000000000000' and v.id < uuid '019cd778-7b01-0000-0000-000000000000' and substr(v.text, 46, 12) <> '"erasedAt":"'
      limit 1) as v
    where (select true from final_deliveries f
      where f.client_key = g.client_key and f.id = g.id
      and f.finished_at >= timestamptz '2026-03-10T11:00:00.000Z' limit 1) is null
    and (select true from pending_deliveries p
      where p.client_key = g.client_key and p.id = g.id limit 1) is null
  ), d as (
    select missing.client_key, missing.id, missing.event_id, missing.endpoint_id, missing.payment_id, missing.account_id, missing.sequence, missing.kind, missing.created_at, missing.document_mode, shard,
    case when is_active then $5::timestamptz end as next_attempt_at,
    0 as attempts, 0 as run_attempts, null::timestamptz as first_attempt_at,
    null::timestamptz as first_failed_at, null::timestamptz as deadline_at,
    true as is_replay, text, document_hash, document_bytes
    from missing
  ), made as (
    insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, shard, next_attempt_at, is_replay)
    select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, shard, next_attempt_at, is_replay from d where (select count(*) from feed_origin) >= 0
    on conflict (client_key, id) do nothing
    returning id
  ), reopened as (
    insert into statement_hours as s (client_key, endpoint_id, hour, reopened)
    select distinct client_key, endpoint_id,
    to_timestamp(('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint / 3600000 * 3600), 1
    from missing where true and (select count(*) from feed_origin) >= 0
    order by 1, 2, 3
    on conflict (client_key, endpoint_id, hour) do update set reopened = s.reopened + 1,
    delivered = null, superseded = null, exhausted = null, cancelled = null, ids_digest = null,
    place = null, authentication = null)
  select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.sequence, d.kind,
  d.shard, d.next_attempt_at, d.attempts, d.run_attempts, d.first_attempt_at, d.first_failed_at,
  d.deadline_at, d.is_replay, d.document_mode, d.text, d.document_hash, d.document_bytes
  from d where d.id = any(array(select id from made))
  order by d.next_attempt_at, d.id;

-- missing-events.readEventIds: planned each time
prepare "missing-events.readEventIds" (integer, uuid, uuid, text[], bigint) as
  select id from events
  where client_key = $1 and id > $2 and id >= uuid '019cd277-ea00-0000-0000-000000000000' and id < uuid '019cd79e-4600-0000-0000-000000000000'
  and ($3::uuid is null or account_id = $3) and ($4::text[] is null or kind = any($4))
  and substr(text, 46, 12) <> '"erasedAt":"'
  order by id limit $5;
