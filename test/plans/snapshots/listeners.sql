-- The statements of server/store/endpoints/listeners.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- listeners.dropDeletedListeners: planned each time
prepare "listeners.dropDeletedListeners" as
  delete from listeners l using endpoints e
  where l.last_polled_at > '-infinity' and e.client_key = l.client_key and e.id = l.endpoint_id
  and e.deleted_at is not null;
--   for any values: empty, never analyzed; full, never analyzed
--     Delete listeners
--       Hash Join
--         Bitmap Heap Scan listeners
--           Bitmap Index Scan listeners by listeners_by_poll (last_polled_at)
--         Hash
--           Index Scan endpoints by endpoints_by_id filter (deleted_at)
--   for any values: empty, analyzed
--     Delete listeners
--       Nested Loop with a join filter
--         Index Scan listeners by listeners_pkey filter (last_polled_at)
--         Index Scan endpoints by endpoints_by_id filter (deleted_at)
--   for any values: empty, analyzed when full; full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Delete listeners
--       Nested Loop
--         Index Scan listeners by listeners_pkey filter (last_polled_at)
--         Index Scan endpoints by endpoints_by_id (id) filter (deleted_at, client_key)
--   for any values: full, analyzed when empty
--     Delete listeners
--       Hash Join
--         Index Scan endpoints by endpoints_by_id filter (deleted_at)
--         Hash
--           Index Scan listeners by listeners_by_poll (last_polled_at)

-- listeners.insertListener: planned each time
prepare "listeners.insertListener" (integer, uuid, timestamp with time zone) as
  insert into listeners (client_key, endpoint_id, last_polled_at) values ($1, $2, $3);
--   always
--     Insert listeners
--       Result

-- listeners.markSilent: planned each time
prepare "listeners.markSilent" (integer, uuid, timestamp with time zone) as
  update listeners set is_listening = false
  where client_key = $1 and endpoint_id = $2 and is_listening and last_polled_at <= $3;
--   always
--     Update listeners
--       Index Scan listeners by listeners_pkey (client_key, endpoint_id) filter (is_listening, last_polled_at)

-- listeners.readForgottenListeners: planned each time
prepare "listeners.readForgottenListeners" (timestamp with time zone, bigint) as
  select l.client_key, l.endpoint_id from listeners l
  join endpoints e on e.client_key = l.client_key and e.id = l.endpoint_id
  where l.last_polled_at <= $1 and e.deleted_at is null
  order by l.last_polled_at limit $2;
--   for values given: full, never analyzed; full, analyzed when empty
--     Limit
--       Sort on l.last_polled_at
--         Nested Loop
--           Index Scan endpoints by one_endpoint_per_address
--           Index Scan listeners by listeners_pkey (client_key, endpoint_id) filter (last_polled_at)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Sort on l.last_polled_at
--         Merge Join
--           Index Scan listeners by listeners_pkey filter (last_polled_at)
--           Index Scan endpoints by endpoints_pkey filter (deleted_at)

-- listeners.readSilentListeners: kept as read-silent-listeners
prepare "listeners.readSilentListeners" (timestamp with time zone, bigint) as
  select client_key, endpoint_id from listeners
  where last_polled_at <= $1 and is_listening order by last_polled_at limit $2;
--   always
--     Limit
--       Index Scan listeners by listeners_by_poll (last_polled_at) filter (is_listening)

-- listeners.touchListener: kept as touch-listener
prepare "listeners.touchListener" (integer, uuid, timestamp with time zone, timestamp with time zone) as
  update listeners set last_polled_at = $3, is_listening = true
  where client_key = $1 and endpoint_id = $2 and (not is_listening or last_polled_at <= $4);
--   always
--     Update listeners
--       Index Scan listeners by listeners_pkey (client_key, endpoint_id) filter (is_listening, last_polled_at)
