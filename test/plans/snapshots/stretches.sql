-- The statements of server/store/sql/stretches.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- stretches.readStretches: kept as read-partitions-of, with enable_seqscan = on
prepare "stretches.readStretches" (text) as
  select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = $1::text::regclass;
--   always
--     System catalogs
