-- The statements of server/store/endpoints/recent-failures.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- recent-failures.readFailureReasons: planned each time
prepare "recent-failures.readFailureReasons" (integer, uuid, bigint) as
  select a.outcome, a.status, count(*)::int as count
  from (select p.client_key, p.id from pending_deliveries p
    where p.endpoint_id = $2 and p.client_key + 0 = $1 and p.attempts > 0 limit $3) as p
  cross join lateral (
    select a.outcome, a.status from earlier_attempts a
    where a.client_key = p.client_key and a.delivery_id = p.id
    and a.at >= timestamptz '2026-03-10T11:00:00.000Z' limit 100) as a
  group by 1, 2 order by 3 desc limit 20;
--   for values given: full, never analyzed; full, analyzed
--     Limit
--       Sort on ((count(*))::integer) DESC
--         Aggregate
--           Sort on a.outcome, a.status
--             Nested Loop
--               Limit
--                 Bitmap Heap Scan pending_deliveries filter (attempts, client_key)
--                   Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--               Limit
--                 Append
--                   Index Scan earlier_attempts_<day> by earlier_attempts_pkey (client_key, delivery_id, at)
--                   … 6 alike
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Sort on ((count(*))::integer) DESC
--         Aggregate
--           Sort on a.outcome, a.status
--             Nested Loop
--               Limit
--                 Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (attempts, client_key)
--               Limit
--                 Append
--                   Index Scan earlier_attempts_<day> by earlier_attempts_pkey (client_key, delivery_id, at)
--                   … 6 alike
