-- The statements of server/store/removal/retention.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- retention.deleteOldHours: planned each time
prepare "retention.deleteOldHours" (timestamp with time zone) as
  delete from endpoint_hours where hour < $1;
--   for values given: full, never analyzed; full, analyzed when empty
--     Delete endpoint_hours
--       Bitmap Heap Scan endpoint_hours
--         Bitmap Index Scan endpoint_hours by endpoint_hours_pkey (hour)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Delete endpoint_hours
--       Index Scan endpoint_hours by endpoint_hours_pkey (hour)

-- retention.deleteUnusedDocuments: planned each time
prepare "retention.deleteUnusedDocuments" (timestamp with time zone, integer, bytea, bigint) as
  with looked as materialized (
    select d.client_key, d.hash, d.created_at from documents d
    where (d.client_key, d.hash) > ($2::int, $3::bytea)
    order by d.client_key, d.hash limit $4)
  select l.client_key, l.hash, l.created_at::text,
  l.created_at < $1 and (select true from payments p
    where p.client_key = l.client_key and p.document_hash = l.hash limit 1) is null as is_unused
  from looked l order by l.client_key, l.hash;
--   always
--     CTE Scan looked
--       CTE looked: Limit
--         Index Scan documents by documents_pkey (client_key, hash)
--       SubPlan 2: Limit
--         Index Only Scan payments by payments_with_document (client_key, document_hash)

-- retention.isStillOwed: planned each time
prepare "retention.isStillOwed" (uuid, uuid) as
  select exists (select from clients c cross join lateral (
      select from pending_deliveries d
      where d.client_key = c.client_key and d.id >= $1::uuid and d.id < $2::uuid limit 1) as d) as owed;
--   always
--     Result
--       InitPlan 1: Nested Loop
--         Index Only Scan clients by clients_pkey
--         Limit
--           Index Only Scan pending_deliveries by pending_deliveries_pkey (client_key, id)

-- retention.readPartitions: planned each time
prepare "retention.readPartitions" as
  select p.relname as parent, c.relname as name from pg_inherits i
  join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
  where p.relnamespace = current_schema()::regnamespace
  and p.relname in ('events', 'final_deliveries', 'earlier_attempts') and c.relkind = 'r';
--   always
--     System catalogs
