-- The statements of server/store/owed/sending-endpoints.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- sending-endpoints.readChangedEndpoints: kept as read-changed-endpoints, hot path
prepare "sending-endpoints.readChangedEndpoints" (timestamp with time zone, uuid, bigint) as
  select client_key, id, shard, retried_at,
  greatest(changed_at, deliveries_changed_at) as changed_at
  from endpoints where changed_at > $1 and id > $2
  union
  select client_key, id, shard, retried_at, greatest(changed_at, deliveries_changed_at)
  from endpoints where deliveries_changed_at > $1 and id > $2
  order by id limit $3;
--   for any values: empty, never analyzed
--     Limit
--       Sort on endpoints.id
--         Aggregate
--           Append
--             Bitmap Heap Scan endpoints filter (changed_at)
--               Bitmap Index Scan endpoints by endpoints_by_id (id)
--             Bitmap Heap Scan endpoints filter (id)
--               Bitmap Index Scan endpoints by endpoints_by_changed_deliveries (deliveries_changed_at)
--   for any values: empty, analyzed
--     Limit
--       Sort on endpoints.id
--         Unique
--           Sort on endpoints.client_key, endpoints.id, endpoints.shard, endpoints.retried_at, (GREATEST(endpoints.changed_at, endpoints.deliveries_changed_at))
--             Append
--               Index Scan endpoints by endpoints_pkey (id) filter (changed_at)
--               Index Scan endpoints by endpoints_pkey (id) filter (deliveries_changed_at)
--   for any values: full, never analyzed; full, analyzed when empty
--   for values given: full, never analyzed; full, analyzed when empty
--     Limit
--       Sort on endpoints.id
--         Aggregate
--           Append
--             Bitmap Heap Scan endpoints filter (id)
--               Bitmap Index Scan endpoints by endpoints_by_change (changed_at)
--             Bitmap Heap Scan endpoints filter (id)
--               Bitmap Index Scan endpoints by endpoints_by_changed_deliveries (deliveries_changed_at)
--   for any values: empty, analyzed when full; full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Sort on endpoints.id
--         Aggregate
--           Append
--             Index Scan endpoints by endpoints_by_change (changed_at) filter (id)
--             Index Scan endpoints by endpoints_by_changed_deliveries (deliveries_changed_at) filter (id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Sort on endpoints.id
--         Unique
--           Sort on endpoints.client_key, endpoints.id, endpoints.shard, endpoints.retried_at, (GREATEST(endpoints.changed_at, endpoints.deliveries_changed_at))
--             Append
--               Index Scan endpoints by endpoints_by_change (changed_at) filter (id)
--               Index Scan endpoints by endpoints_by_changed_deliveries (deliveries_changed_at) filter (id)

-- sending-endpoints.readSendingEndpoints: kept as read-sending-endpoints, hot path
prepare "sending-endpoints.readSendingEndpoints" (integer[], uuid[]) as
  select e.* from (
    select distinct client_key, id
    from unnest((select $1::int[])::int[], $2::uuid[]) as k (client_key, id)) as k
  cross join lateral (
    select client_key, id, shard, url, status, deleted_at, shared_key, previous_key,
    previous_key_until, header_name, header_value, events, deliver, document, signatures, hmac_header_name, description from endpoints e
    where e.client_key = k.client_key and e.id = k.id limit 1) as e;
--   always
--     Nested Loop
--       Aggregate
--         InitPlan 1: Result
--         Function Scan
--       Limit
--         Index Scan endpoints by endpoints_by_id (id) filter (client_key)
