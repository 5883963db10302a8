-- The statements of server/store/endpoints/endpoint-hours.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- endpoint-hours.readEndpointHours: kept as read-hours-of-endpoints
prepare "endpoint-hours.readEndpointHours" (integer[], uuid[], timestamp with time zone) as
  select o.endpoint_id, o.hour, o.attempts, o.delivered
  from unnest($1::int[], $2::uuid[]) as k (client_key, endpoint_id)
  join endpoint_hours o on o.client_key = k.client_key and o.endpoint_id = k.endpoint_id
  and o.hour > $3
  order by o.hour;
--   for any values: empty, never analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on o.hour
--       Nested Loop
--         Function Scan
--         Index Scan endpoint_hours by endpoint_hours_pkey (client_key, endpoint_id, hour)
--   for any values: empty, analyzed
--     Sort on o.hour
--       Hash Join
--         Function Scan
--         Hash
--           Index Scan endpoint_hours by endpoint_hours_pkey (hour)

-- endpoint-hours.readHoursOf: kept as read-hours-of-endpoint
prepare "endpoint-hours.readHoursOf" (integer, uuid, timestamp with time zone) as
  select hour, attempts, delivered, durations from endpoint_hours
  where client_key = $1 and endpoint_id = $2 and hour >= $3 order by hour;
--   always
--     Index Scan endpoint_hours by endpoint_hours_pkey (client_key, endpoint_id, hour)
