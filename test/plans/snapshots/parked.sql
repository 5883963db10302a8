-- What server/store/owed/parked.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- parked.disableFailing: planned each time
prepare "parked.disableFailing" (smallint[], bigint[], timestamp with time zone, timestamp with time zone) as
  with held as (
    select l.* from (
      select * from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch) order by shard) as g
    cross join lateral (
      select l.shard, l.epoch from leases l where l.shard = g.shard and l.epoch = g.epoch
      for key share of l) as l)
  update endpoints e set status = 'DISABLED', inactive_since = $4, changed_at = $4
  from endpoint_health h, held
  where h.client_key = e.client_key and h.endpoint_id = e.id and held.shard = e.shard
  -- Resumed, or given another key, a moment ago: it gets another 7 days.
  and h.failing_since < $3 and e.changed_at < $3 and e.status = 'ACTIVE' and e.deleted_at is null
  -- Health is written now and then: a success that a killed process did not get to tell of.
  and not exists (select from final_deliveries f
    where f.client_key = e.client_key and f.endpoint_id = e.id
    and f.state = 'DELIVERED' and f.finished_at >= $3
    and f.finished_at >= timestamptz '2026-03-03T12:00:00.000Z')
  returning e.client_key, e.id as endpoint_id, e.shard;

-- parked.exhaustParked: kept as exhaust-parked, hot path
prepare "parked.exhaustParked" (smallint, integer, uuid, bigint, timestamp with time zone, uuid, bigint) as
  with held as (
    select from leases where shard = $1 and epoch = $4 for key share
  ), active as (
    select from endpoints where client_key = $2 and id = $3 and status = 'ACTIVE' for share
  ), page as materialized (
    select p.client_key, p.id, p.deadline_at from pending_deliveries p
    where p.shard = $1 and p.client_key = $2 and p.endpoint_id = $3
    and p.next_attempt_at is null and p.id > $6
    order by p.id limit $7
  ), ended as (
    delete from pending_deliveries p using page g
    where exists (select from held) and exists (select from active)
    and g.deadline_at <= $5 and p.client_key = any(array[g.client_key]) and p.id = g.id and p.deadline_at <= $5
    and p.run_attempts > 0
    returning p.*
  ), filed as (
    insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, state, finished_at, is_replay)
    select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, 'EXHAUSTED', $5, nullif(is_replay, false) from ended where (select count(*) from feed_origin) >= 0)
  select (select count(*)::int from ended) as exhausted, count(*)::int as looked,
  (select id from page order by id desc limit 1) as last_id
  from page;

-- parked.parkDeliveries: kept as park-deliveries, hot path
prepare "parked.parkDeliveries" (smallint[], bigint[], integer[], uuid[], smallint[], bigint[]) as
  with given as (
    select * from unnest($3::int[], $4::uuid[], $5::smallint[], $6::bigint[])
    as g (client_key, id, shard, epoch)), held as (
    select l.* from (
      select * from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch) order by shard) as g
    cross join lateral (
      select l.shard, l.epoch from leases l where l.shard = g.shard and l.epoch = g.epoch
      for key share of l) as l), mine as (
    select * from given where (shard, epoch) in (select shard, epoch from held))
  update pending_deliveries p set next_attempt_at = null from mine m where p.client_key = any(array[m.client_key]) and p.id = m.id;

-- parked.readParked: kept as read-parked, hot path
prepare "parked.readParked" (smallint, integer, uuid, uuid, bigint) as
  select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.sequence, d.kind,
  d.shard, d.next_attempt_at, d.attempts, d.run_attempts, d.first_attempt_at, d.first_failed_at,
  d.deadline_at, d.is_replay, d.document_mode from pending_deliveries d
  where d.shard = $1 and d.client_key = $2 and d.endpoint_id = $3
  and d.next_attempt_at is null and d.id > $4
  order by d.id limit $5;

-- parked.readParkedLanes: kept as read-parked-lanes, hot path
prepare "parked.readParkedLanes" (smallint[]) as
  select s.shard, l.client_key, l.endpoint_id
  from unnest((select $1::smallint[])::smallint[]) as s (shard) cross join lateral (
    with recursive lane as (
      (select p.client_key, p.endpoint_id from pending_deliveries p
        where p.shard = s.shard and p.next_attempt_at is null
        order by p.client_key, p.endpoint_id limit 1)
      union all
      select n.client_key, n.endpoint_id from lane cross join lateral (
        select p.client_key, p.endpoint_id from pending_deliveries p
        where p.shard = s.shard and p.next_attempt_at is null
        and (p.client_key, p.endpoint_id) > (lane.client_key, lane.endpoint_id)
        order by p.client_key, p.endpoint_id limit 1) as n)
    select * from lane) as l
  cross join lateral (
    -- One look for each lane: as a plain join, all endpoints may be read first.
    select from endpoints e
    where e.client_key = l.client_key and e.id = l.endpoint_id
    and e.status = 'ACTIVE' and e.deleted_at is null limit 1) as active;
