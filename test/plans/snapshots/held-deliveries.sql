-- The statements of server/store/owed/held-deliveries.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- held-deliveries.readLostLeases: kept as read-lost-leases, hot path
prepare "held-deliveries.readLostLeases" (smallint[], bigint[]) as
  select g.shard, g.epoch from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch)
  where not exists (select from leases l where l.shard = g.shard and l.epoch = g.epoch);
--   always
--     Hash Join right anti
--       Index Scan leases by leases_pkey
--       Hash
--         Function Scan
