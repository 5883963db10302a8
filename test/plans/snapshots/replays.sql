-- What server/store/owed/replays.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- replays.lockEndpointsOf: kept as lock-endpoints-of-replays
prepare "replays.lockEndpointsOf" (integer[], uuid[]) as
  select from endpoints e
  where (e.client_key, e.id) in (select * from unnest($1::int[], $2::uuid[]))
  order by e.client_key, e.id for share of e;

-- replays.lockEndpointsOf 2: kept as lock-endpoints-of-missing
prepare "replays.lockEndpointsOf 2" (integer[], uuid[]) as
  select from endpoints e
  where (e.client_key, e.id) in (select * from unnest($1::int[], $2::uuid[]))
  order by e.client_key, e.id for no key update of e;

-- replays.replayDeliveries: planned each time
prepare "replays.replayDeliveries" (integer[], uuid[], timestamp with time zone[], timestamp with time zone) as
  with given as (
    select * from unnest($1::int[], $2::uuid[], $3::timestamptz[])
    as g (client_key, id, finished_at)
  ), moved as materialized (
    -- From each key into the tables, never the other way round, whatever statistics say of a
    -- day that has just begun: so in steps that the planner does not turn about.
    select f.*, e.shard, e.is_active, v.text, v.document_hash, v.document_bytes
    from given g
    cross join lateral (
      select f.* from final_deliveries f
      where f.client_key = g.client_key and f.id = g.id and f.finished_at = g.finished_at
      and f.finished_at >= timestamptz '2026-03-09T20:06:42.320Z' and f.finished_at < timestamptz '2026-03-10T11:18:44.321Z'
      for update of f) as f
    cross join lateral (
      select e.shard, e.status = 'ACTIVE' as is_active from endpoints e
      where e.client_key = f.client_key and e.id = f.endpoint_id and e.deleted_at is null
      limit 1) as e
    cross join lateral (
      select v.text, v.document_hash, v.document_bytes from events v
      where v.client_key = f.client_key and v.id = f.event_id
      and v.id >= uuid '019cd435-8500-0000-0000-000000000000' and v.id < uuid '019cd778-7b01-0000-0000-000000000000' and substr(v.text, 46, 12) <> '"erasedAt":"'
      limit 1) as v
  ), gone as (
    delete from final_deliveries f using moved m
    where f.client_key = any(array[m.client_key]) and f.id = m.id
    and f.finished_at = m.finished_at
    and f.finished_at >= timestamptz '2026-03-09T20:06:42.320Z' and f.finished_at < timestamptz '2026-03-10T11:18:44.321Z'
  ), kept as (
    insert into earlier_attempts
    (client_key, delivery_id, attempt, at, duration_ms, outcome, status, excerpt)
    select client_key, id, attempts, attempted_at, duration_ms, last_outcome, last_status,
    excerpt
    from moved where state = 'DELIVERED' and (select count(*) from feed_origin) >= 0
    -- It may be noted: as one that ended nothing, by a process that recorded it at the same moment.
    on conflict do nothing
  ), reopened as (
    insert into statement_hours as s (client_key, endpoint_id, hour, reopened)
    select distinct client_key, endpoint_id,
    to_timestamp(('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint / 3600000 * 3600), 1
    from moved where state <> 'DELIVERED' and (select count(*) from feed_origin) >= 0
    order by 1, 2, 3
    on conflict (client_key, endpoint_id, hour) do update set reopened = s.reopened + 1,
    delivered = null, superseded = null, exhausted = null, cancelled = null, ids_digest = null,
    place = null, authentication = null
  ), d as (
    select moved.client_key, moved.id, moved.event_id, moved.endpoint_id, moved.payment_id, moved.account_id, moved.sequence, moved.kind, moved.created_at, moved.document_mode, shard,
    case when is_active then $4::timestamptz end as next_attempt_at,
    -- What an attempt that was under way at the cancellation has brought is noted in the
    -- attempts and nowhere else.
    case when state <> 'CANCELLED' then attempts
    else greatest(attempts, attempts_begun, (select max(a.attempt) from earlier_attempts a
        where a.client_key = moved.client_key and a.delivery_id = moved.id
        and a.at >= timestamptz '2026-03-08T20:06:43.320Z' and a.at < timestamptz '2026-03-11T11:18:43.321Z'))
    end as attempts,
    0 as run_attempts, null::timestamptz as first_attempt_at,
    null::timestamptz as first_failed_at, null::timestamptz as deadline_at,
    true as is_replay, last_outcome, last_status, text, document_hash, document_bytes
    from moved
  ), put as (
    insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, shard, next_attempt_at, attempts,
      is_replay, last_outcome, last_status)
    select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, shard, next_attempt_at, attempts, is_replay, last_outcome,
    last_status
    from d where (select count(*) from feed_origin) >= 0)
  select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.sequence, d.kind,
  d.shard, d.next_attempt_at, d.attempts, d.run_attempts, d.first_attempt_at, d.first_failed_at,
  d.deadline_at, d.is_replay, d.document_mode, d.text, d.document_hash, d.document_bytes from d
  order by d.id;
