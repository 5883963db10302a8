-- What server/store/history/service-figures.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- service-figures.readOwed: kept as read-owed-gauges
prepare "service-figures.readOwed" (timestamp with time zone) as
  with down as materialized (
    select h.client_key, h.endpoint_id from endpoint_health h
    where h.circuit <> 'CLOSED'
    and h.next_probe_at > $1::timestamptz - interval '60000 ms'), come as materialized (
    select count(*) filter (where not one.is_down)::int as due,
    count(*) filter (where one.is_down)::int as held_up
    from generate_series(0, 63) as s (shard) cross join lateral (
      select (p.client_key, p.endpoint_id) in (select client_key, endpoint_id from down) as is_down from pending_deliveries p
      where p.shard = s.shard and p.next_attempt_at <= $1
      limit 20000) as one)
  select (select due from come) as due,
  (
    select count(*)::int from generate_series(0, 63) as s (shard) cross join lateral (
      select from pending_deliveries p where p.shard = s.shard and p.next_attempt_at > $1
      limit 20000) as one) as scheduled,
  (
    select count(*)::int from generate_series(0, 63) as s (shard) cross join lateral (
      select from pending_deliveries p where p.shard = s.shard and p.next_attempt_at is null
      limit 20000) as one) + (select held_up from come) as paused,
  (select min(first.next_attempt_at)
    from generate_series(0, 63) as s (shard) cross join lateral (
      select p.next_attempt_at from pending_deliveries p
      where p.shard = s.shard and p.next_attempt_at <= $1
      and not (p.client_key, p.endpoint_id) in (select client_key, endpoint_id from down)
      order by p.next_attempt_at limit 1) as first) as oldest_due_at,
  (select json_agg(k) from (
      select kind, status, count(*)::int as count from endpoints
      where deleted_at is null group by kind, status) as k) as endpoints,
  (select sealed_through from audit_seal_progress) as sealed_through;
