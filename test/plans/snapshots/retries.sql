-- What server/store/owed/retries.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- retries.markRetried: kept as mark-retried-endpoints
prepare "retries.markRetried" (integer[], uuid[], timestamp with time zone) as
  with given as (
    select e.* from (
      select * from unnest($1::int[], $2::uuid[]) as k (client_key, id)
      order by client_key, id) as k
    cross join lateral (
      select e.client_key, e.id from endpoints e
      where e.client_key = k.client_key and e.id = k.id
      and e.status = 'ACTIVE' and e.deleted_at is null
      for no key update of e) as e
  ), down as (
    select h.* from given g cross join lateral (
      select h.client_key, h.endpoint_id from endpoint_health h
      where h.client_key = g.client_key and h.endpoint_id = g.id and h.circuit <> 'CLOSED'
      for no key update of h skip locked) as h
  ), probed as (
    update endpoint_health h set circuit = 'HALF_OPEN', next_probe_at = $3
    from down d where h.client_key = d.client_key and h.endpoint_id = d.endpoint_id)
  update endpoints e set
  deliveries_changed_at = greatest(e.deliveries_changed_at, $3),
  retried_at = greatest(e.retried_at, $3)
  from given g where e.client_key = g.client_key and e.id = g.id
  returning e.client_key, e.id as endpoint_id, e.shard;

-- retries.probeResumed: kept as probe-resumed-endpoint
prepare "retries.probeResumed" (integer, uuid, timestamp with time zone) as
  with given as (select $1::int as client_key, $2::uuid as id), down as (
    select h.* from given g cross join lateral (
      select h.client_key, h.endpoint_id from endpoint_health h
      where h.client_key = g.client_key and h.endpoint_id = g.id and h.circuit <> 'CLOSED'
      for no key update of h skip locked) as h
  ), probed as (
    update endpoint_health h set circuit = 'HALF_OPEN', next_probe_at = $3
    from down d where h.client_key = d.client_key and h.endpoint_id = d.endpoint_id)
  update endpoints e set retried_at = $3
  from given g where e.client_key = g.client_key and e.id = g.id;

-- Alike: of one
-- retries.retryDeliveries of many: kept as retry-deliveries
prepare "retries.retryDeliveries of many" (integer[], uuid[], timestamp with time zone) as
  with asked as (
    select p.* from (
      select distinct client_key, id from unnest($1::int[], $2::uuid[]) as k (client_key, id)) as k
    cross join lateral (
      select p.client_key, p.id, p.endpoint_id, p.payment_id, p.is_replay
      from pending_deliveries p
      where p.client_key = k.client_key and p.id = k.id limit 1) as p
  ), strands as (
    select distinct s.client_key, s.id from asked a cross join lateral (
      select s.client_key, s.id from pending_deliveries s
      where s.endpoint_id = a.endpoint_id and s.payment_id = a.payment_id
      and s.client_key + 0 = a.client_key
      and case when a.is_replay then s.id = a.id else not s.is_replay end
      offset 0) as s
  ), free as (
    select p.* from (select * from strands order by client_key, id) as s
    cross join lateral (
      select p.client_key, p.id from pending_deliveries p
      where p.client_key = s.client_key and p.id = s.id
      for update of p skip locked) as p)
  update pending_deliveries p set next_attempt_at = $3
  from free f where p.client_key = any(array[f.client_key]) and p.id = f.id
  returning p.client_key, p.id, p.endpoint_id, p.shard, p.attempts, p.next_attempt_at;

-- retries.retryDeliveriesOf: kept as retry-deliveries-of-endpoint
prepare "retries.retryDeliveriesOf" (integer, uuid, timestamp with time zone, uuid) as
  with owed as materialized (
    -- Also what is due already: its first attempt may be under way, and what that records leaves a later
    -- time alone (store/owed/outcomes.ts).
    select p.client_key, p.id, p.next_attempt_at is not null as is_late
    from pending_deliveries p
    where p.endpoint_id = $2 and p.client_key + 0 = $1 and ($4::uuid is null or p.account_id = $4)
  ), free as (
    select p.* from (select * from owed where is_late order by id) as o
    cross join lateral (
      select p.client_key, p.id from pending_deliveries p
      where p.client_key = o.client_key and p.id = o.id
      for update of p skip locked) as p
  ), moved as (
    update pending_deliveries p set next_attempt_at = $3
    from free f where p.client_key = any(array[f.client_key]) and p.id = f.id
    returning p.id)
  select count(*)::int as owed, count(*) filter (where is_late)::int as late,
  (select count(*)::int from moved) as moved
  from owed;
