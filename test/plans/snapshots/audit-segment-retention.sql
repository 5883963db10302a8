-- The statements of server/store/audit-segment-retention.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- audit-segment-retention.findLastSegmentOf: planned each time
prepare "audit-segment-retention.findLastSegmentOf" (timestamp with time zone, uuid) as
  with usual as (
    select coalesce(max(segment), 0) as segment from audit_segments where sealed_at < $1
  ), late as (
    select max(a.place) as place from audit a
    where a.id < $2::uuid
    and a.place >= coalesce((select to_place from audit_segments s join usual using (segment)), 0)
  )
  select nullif(greatest(usual.segment, (select s.segment from audit_segments s
        where s.from_place <= late.place order by s.segment desc limit 1)), 0) as last
  from usual, late;
--   for values given: full, never analyzed
--     Nested Loop
--       CTE usual: Result
--         InitPlan 1: Limit
--           Index Scan audit_segments by audit_segments_pkey filter (sealed_at)
--       CTE Scan usual
--       Aggregate
--         InitPlan 4: Nested Loop with a join filter
--           Index Scan audit_segments by audit_segments_pkey
--           CTE Scan usual
--         Append
--           Bitmap Heap Scan audit_<day> filter (place)
--             Bitmap Index Scan audit_<day> by audit_pkey (id)
--           … 2 alike
--           Index Scan audit_<day> by audit_pkey (id) filter (place)
--       SubPlan 3: Limit
--         Index Scan audit_segments by audit_segments_pkey filter (from_place)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Nested Loop
--       CTE usual: Result
--         InitPlan 1: Limit
--           Index Scan audit_segments by audit_segments_pkey filter (sealed_at)
--       CTE Scan usual
--       Aggregate
--         InitPlan 4: Nested Loop with a join filter
--           Index Scan audit_segments by audit_segments_pkey
--           CTE Scan usual
--         Append
--           Bitmap Heap Scan audit_<day> filter (id)
--             Bitmap Index Scan audit_<day> by audit_by_place (place)
--           Index Scan audit_<day> by audit_pkey (id) filter (place)
--           … 2 alike
--       SubPlan 3: Limit
--         Index Scan audit_segments by audit_segments_pkey filter (from_place)

-- audit-segment-retention.forgetRowDigests: kept as forget-row-digests
prepare "audit-segment-retention.forgetRowDigests" (bigint) as
  update audit_segments set row_digests = null
  where segment <= $1 and row_digests is not null;
--   always
--     Update audit_segments
--       Index Scan audit_segments by audit_segments_pkey (segment) filter (row_digests)

-- audit-segment-retention.isRowSealed: kept as is-audit-row-sealed
prepare "audit-segment-retention.isRowSealed" (uuid) as
  select place < coalesce((select to_place from audit_segments
      order by segment desc limit 1), 0) as is_sealed
  from audit where id = $1;
--   for any values: empty, never analyzed; empty, analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Append
--       InitPlan 1: Limit
--         Index Scan audit_segments by audit_segments_pkey
--       Index Scan audit_<day> by audit_pkey (id)
--       … 5 alike
--   for values given: full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Index Scan audit_<day> by audit_pkey (id)
--       InitPlan 1: Limit
--         Index Scan audit_segments by audit_segments_pkey
