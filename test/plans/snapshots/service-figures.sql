-- The statements of server/store/history/service-figures.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- service-figures.readCatalogue: kept as read-catalogue-gauges
prepare "service-figures.readCatalogue" (text[]) as
  select (select json_object_agg(state, round) from (
      select v.state, round(sum(c.reltuples * v.share)) as round
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      join pg_stats t on t.schemaname = current_schema() and t.tablename = c.relname
      and t.attname = 'state'
      cross join lateral unnest(t.most_common_vals::text::text[], t.most_common_freqs)
      as v (state, share)
      where i.inhparent = 'final_deliveries'::regclass and c.reltuples > 0
      group by v.state) as e) as ended,
  (select json_agg(c.relname) from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = any($1::text[]::regclass[])) as partitions;

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
