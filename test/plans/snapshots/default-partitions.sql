-- The statements of server/store/schema/default-partitions.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- default-partitions.readDefaultRows: planned each time
prepare "default-partitions.readDefaultRows" as
  select json_build_object('events', (select count(*)::int from (
        select from events_default limit 100000) as one), 'final_deliveries', (select count(*)::int from (
        select from final_deliveries_default limit 100000) as one), 'earlier_attempts', (select count(*)::int from (
        select from earlier_attempts_default limit 100000) as one)) as found;
--   for any values: empty, never analyzed; full, never analyzed
--     Result
--       InitPlan 1: Aggregate
--         Limit
--           Bitmap Heap Scan events_<day>
--             Bitmap Index Scan events_<day> by events_in_feed_order
--       InitPlan 2: Aggregate
--         Limit
--           Bitmap Heap Scan final_deliveries_<day>
--             Bitmap Index Scan final_deliveries_<day> by final_deliveries_of_endpoint
--       InitPlan 3: Aggregate
--         Limit
--           Bitmap Heap Scan earlier_attempts_<day>
--             Bitmap Index Scan earlier_attempts_<day> by earlier_attempts_pkey
--   for any values: empty, analyzed; empty, analyzed when full; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Result
--       InitPlan 1: Aggregate
--         Limit
--           Index Only Scan events_<day> by events_in_feed_order
--       InitPlan 2: Aggregate
--         Limit
--           Index Only Scan final_deliveries_<day> by final_deliveries_of_endpoint
--       InitPlan 3: Aggregate
--         Limit
--           Index Only Scan earlier_attempts_<day> by earlier_attempts_pkey

-- default-partitions.readDefaultRows 2: planned each time
prepare "default-partitions.readDefaultRows 2" as
  select rows from inspect_audit_default(100000);
--   always
--     Function Scan inspect_audit_default
