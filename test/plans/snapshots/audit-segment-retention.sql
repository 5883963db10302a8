-- The statements of server/store/removal/audit-segment-retention.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- audit-segment-retention.findLastSegmentOf: planned each time
prepare "audit-segment-retention.findLastSegmentOf" (uuid, bigint) as
  with last as (select max(place) as place from audit where id < $1::uuid and place > 0
    and place >= coalesce((select to_place from audit_segments where segment = $2), 0))
  select last.place::text, s.segment, s.digest, s.sealed_at from last
  left join lateral (select segment, digest, sealed_at, to_place from audit_segments
    where from_place <= last.place order by segment desc limit 1) s
  on s.to_place > last.place;
--   for values given: full, never analyzed
--     Nested Loop left
--       Aggregate
--         InitPlan 1: Index Scan audit_segments by audit_segments_pkey (segment)
--         Append
--           Bitmap Heap Scan audit_<day> filter (place)
--             Bitmap Index Scan audit_<day> by audit_pkey (id)
--           … 2 alike
--           Index Scan audit_<day> by audit_pkey (id) filter (place)
--       Subquery Scan
--         Limit
--           Index Scan audit_segments by audit_segments_pkey filter (from_place)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Nested Loop left
--       Aggregate
--         InitPlan 1: Index Scan audit_segments by audit_segments_pkey (segment)
--         Append
--           Bitmap Heap Scan audit_<day> filter (id)
--             Bitmap Index Scan audit_<day> by audit_by_place (place)
--           Index Scan audit_<day> by audit_pkey (id) filter (place)
--           … 2 alike
--       Subquery Scan
--         Limit
--           Index Scan audit_segments by audit_segments_pkey filter (from_place)

-- audit-segment-retention.forgetRowDigests: planned each time
prepare "audit-segment-retention.forgetRowDigests" (bigint) as
  with left_over as (
    select min(place) as place from audit
    where place >= (select from_place from audit_segments where row_digests is not null
      order by segment limit 1)
    and place < (select to_place from audit_segments where segment = $1)
  )
  update audit_segments s set row_digests = null from left_over
  where s.segment <= $1 and s.row_digests is not null
  and (left_over.place is null or s.to_place <= left_over.place);
--   always
--     Update audit_segments
--       Nested Loop with a join filter
--         Index Scan audit_segments by audit_segments_pkey (segment) filter (row_digests)
--         Subquery Scan
--           Aggregate
--             InitPlan 1: Limit
--               Index Scan audit_segments by audit_segments_pkey filter (row_digests)
--             InitPlan 2: Index Scan audit_segments by audit_segments_pkey (segment)
--             Append
--               Bitmap Heap Scan audit_<day>
--                 Bitmap Index Scan audit_<day> by audit_by_place (place)
--               … 5 alike

-- audit-segment-retention.insertDrop: kept as insert-audit-drop
prepare "audit-segment-retention.insertDrop" (bigint, text) as
  insert into audit_drops (through, jws) values ($1, $2);
--   always
--     Insert audit_drops
--       Result

-- audit-segment-retention.readLastDrop: kept as read-last-audit-drop
prepare "audit-segment-retention.readLastDrop" as
  select through, jws from audit_drops order by through desc limit 1;
--   always
--     Limit
--       Index Scan audit_drops by audit_drops_pkey
