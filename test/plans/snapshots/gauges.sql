-- The statements of server/store/gauges.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- gauges.readDatabaseGauges: kept as read-database-gauges
prepare "gauges.readDatabaseGauges" (timestamp with time zone, text[]) as
  select (
    select count(*)::int from generate_series(0, 63) as s (shard) cross join lateral (
      select from pending_deliveries p where p.shard = s.shard and p.next_attempt_at <= $1
      limit 20000) as one) as due,
  (
    select count(*)::int from generate_series(0, 63) as s (shard) cross join lateral (
      select from pending_deliveries p where p.shard = s.shard and p.next_attempt_at > $1
      limit 20000) as one) as scheduled,
  (
    select count(*)::int from generate_series(0, 63) as s (shard) cross join lateral (
      select from pending_deliveries p where p.shard = s.shard and p.next_attempt_at is null
      limit 20000) as one) as paused,
  (select min(first.next_attempt_at)
    from generate_series(0, 63) as s (shard) cross join lateral (
      select p.next_attempt_at from pending_deliveries p
      where p.shard = s.shard and p.next_attempt_at <= $1
      order by p.next_attempt_at limit 1) as first) as oldest_due_at,
  (select json_object_agg(state, round) from (
      select v.state, round(sum(c.reltuples * v.share)) as round
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      join pg_stats t on t.schemaname = current_schema() and t.tablename = c.relname
      and t.attname = 'state'
      cross join lateral unnest(t.most_common_vals::text::text[], t.most_common_freqs)
      as v (state, share)
      where i.inhparent = 'final_deliveries'::regclass and c.reltuples > 0
      group by v.state) as e) as ended,
  (select json_agg(k) from (
      select kind, status, count(*)::int as count from endpoints
      where deleted_at is null group by kind, status) as k) as endpoints,
  (select json_agg(c.relname) from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = any($2::text[]::regclass[])) as partitions,
  json_build_object('events', (select count(*)::int from (
        select from events_default limit 100000) as one), 'final_deliveries', (select count(*)::int from (
        select from final_deliveries_default limit 100000) as one), 'earlier_attempts', (select count(*)::int from (
        select from earlier_attempts_default limit 100000) as one), 'audit', (select rows from inspect_audit_default(100000))) as default_rows;
--   for any values: empty, never analyzed
--     Result
--       InitPlan 1: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Index Only Scan pending_deliveries by deliveries_due (shard, next_attempt_at)
--       InitPlan 2: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Index Only Scan pending_deliveries by deliveries_due (shard, next_attempt_at)
--       InitPlan 3: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Index Only Scan pending_deliveries by deliveries_parked (shard)
--       InitPlan 4: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Index Only Scan pending_deliveries by deliveries_due (shard, next_attempt_at)
--       InitPlan 5: System catalogs
--       InitPlan 6: Aggregate
--         Subquery Scan
--           Aggregate
--             Sort on endpoints.kind, endpoints.status
--               Index Scan endpoints by one_endpoint_per_address
--       InitPlan 7: System catalogs
--       InitPlan 8: Aggregate
--         Limit
--           Bitmap Heap Scan events_<day>
--             Bitmap Index Scan events_<day> by events_in_feed_order
--       InitPlan 9: Aggregate
--         Limit
--           Bitmap Heap Scan final_deliveries_<day>
--             Bitmap Index Scan final_deliveries_<day> by final_deliveries_of_endpoint
--       InitPlan 10: Aggregate
--         Limit
--           Bitmap Heap Scan earlier_attempts_<day>
--             Bitmap Index Scan earlier_attempts_<day> by earlier_attempts_pkey
--       InitPlan 11: Function Scan inspect_audit_default
--   for any values: empty, analyzed; full, analyzed when empty
--   for values given: full, analyzed when empty
--     Result
--       InitPlan 1: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Index Only Scan pending_deliveries by deliveries_due (shard, next_attempt_at)
--       InitPlan 2: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Index Only Scan pending_deliveries by deliveries_due (shard, next_attempt_at)
--       InitPlan 3: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Index Only Scan pending_deliveries by deliveries_parked (shard)
--       InitPlan 4: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Index Only Scan pending_deliveries by deliveries_due (shard, next_attempt_at)
--       InitPlan 5: System catalogs
--       InitPlan 6: Aggregate
--         Subquery Scan
--           Aggregate
--             Sort on endpoints.kind, endpoints.status
--               Index Scan endpoints by one_endpoint_per_address
--       InitPlan 7: System catalogs
--       InitPlan 8: Aggregate
--         Limit
--           Index Only Scan events_<day> by events_in_feed_order
--       InitPlan 9: Aggregate
--         Limit
--           Index Only Scan final_deliveries_<day> by final_deliveries_of_endpoint
--       InitPlan 10: Aggregate
--         Limit
--           Index Only Scan earlier_attempts_<day> by earlier_attempts_pkey
--       InitPlan 11: Function Scan inspect_audit_default
--   for any values: full, never analyzed
--   for values given: full, never analyzed
--     Result
--       InitPlan 1: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Bitmap Heap Scan pending_deliveries
--               Bitmap Index Scan pending_deliveries by deliveries_due (shard, next_attempt_at)
--       InitPlan 2: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Bitmap Heap Scan pending_deliveries
--               Bitmap Index Scan pending_deliveries by deliveries_due (shard, next_attempt_at)
--       InitPlan 3: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Index Only Scan pending_deliveries by deliveries_parked (shard)
--       InitPlan 4: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Index Only Scan pending_deliveries by deliveries_due (shard, next_attempt_at)
--       InitPlan 5: System catalogs
--       InitPlan 6: Aggregate
--         Subquery Scan
--           Aggregate
--             Sort on endpoints.kind, endpoints.status
--               Index Scan endpoints by one_endpoint_per_address
--       InitPlan 7: System catalogs
--       InitPlan 8: Aggregate
--         Limit
--           Bitmap Heap Scan events_<day>
--             Bitmap Index Scan events_<day> by events_in_feed_order
--       InitPlan 9: Aggregate
--         Limit
--           Bitmap Heap Scan final_deliveries_<day>
--             Bitmap Index Scan final_deliveries_<day> by final_deliveries_of_endpoint
--       InitPlan 10: Aggregate
--         Limit
--           Bitmap Heap Scan earlier_attempts_<day>
--             Bitmap Index Scan earlier_attempts_<day> by earlier_attempts_pkey
--       InitPlan 11: Function Scan inspect_audit_default
--   for any values: empty, analyzed when full; full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Result
--       InitPlan 1: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Index Only Scan pending_deliveries by deliveries_due (shard, next_attempt_at)
--       InitPlan 2: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Index Only Scan pending_deliveries by deliveries_due (shard, next_attempt_at)
--       InitPlan 3: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Index Only Scan pending_deliveries by deliveries_parked (shard)
--       InitPlan 4: Aggregate
--         Nested Loop
--           Function Scan generate_series
--           Limit
--             Index Only Scan pending_deliveries by deliveries_due (shard, next_attempt_at)
--       InitPlan 5: System catalogs
--       InitPlan 6: Aggregate
--         Subquery Scan
--           Aggregate
--             Bitmap Heap Scan endpoints
--               Bitmap Index Scan endpoints by one_endpoint_per_address
--       InitPlan 7: System catalogs
--       InitPlan 8: Aggregate
--         Limit
--           Index Only Scan events_<day> by events_in_feed_order
--       InitPlan 9: Aggregate
--         Limit
--           Index Only Scan final_deliveries_<day> by final_deliveries_of_endpoint
--       InitPlan 10: Aggregate
--         Limit
--           Index Only Scan earlier_attempts_<day> by earlier_attempts_pkey
--       InitPlan 11: Function Scan inspect_audit_default
