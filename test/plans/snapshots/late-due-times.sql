-- The statements of server/store/owed/late-due-times.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- late-due-times.bringForward: kept as bring-forward
prepare "late-due-times.bringForward" (smallint, bigint, timestamp with time zone[], bigint) as
  with held as (
    select from leases where shard = $1 and epoch = $2 for key share
  ), late as (
    select p.client_key, p.id, p.latest from (
      select p.client_key, p.id, p.next_attempt_at,
      ($3::timestamptz[])[least(p.run_attempts + 1, cardinality($3::timestamptz[]))] as latest
      from pending_deliveries p
      where p.shard = $1 and p.next_attempt_at > ($3::timestamptz[])[1]
      offset 0) as p
    where p.next_attempt_at > p.latest and exists (select from held)
    limit $4
  ), free as (
    select p.*, l.latest from (select * from late order by client_key, id) as l
    cross join lateral (
      select p.client_key, p.id from pending_deliveries p
      where p.client_key = l.client_key and p.id = l.id
      for update of p skip locked) as p)
  update pending_deliveries p set next_attempt_at = least(p.next_attempt_at, f.latest)
  from free f where p.client_key = any(array[f.client_key]) and p.id = f.id;
--   for any values: empty, never analyzed; empty, analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Update pending_deliveries
--       CTE held: LockRows
--         Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE free: Nested Loop
--         Sort on p_2.client_key, p_2.id
--           Limit
--             InitPlan 2: CTE Scan held
--             Result
--               Subquery Scan
--                 Index Scan pending_deliveries by deliveries_due (shard, next_attempt_at)
--         Subquery Scan
--           LockRows
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       Nested Loop
--         CTE Scan free
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--   for values given: full, never analyzed; full, analyzed
--     Update pending_deliveries
--       CTE held: LockRows
--         Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE free: Nested Loop
--         Sort on p_2.client_key, p_2.id
--           Limit
--             InitPlan 2: CTE Scan held
--             Result
--               Subquery Scan
--                 Bitmap Heap Scan pending_deliveries
--                   Bitmap Index Scan pending_deliveries by deliveries_due (shard, next_attempt_at)
--         Subquery Scan
--           LockRows
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       Nested Loop
--         CTE Scan free
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
