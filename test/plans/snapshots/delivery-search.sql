-- The statements of server/store/history/delivery-search.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- delivery-search.findClientKey by accountId: planned each time
prepare "delivery-search.findClientKey by accountId" (uuid) as
  select client_key from accounts where id = $1 limit 1;
--   always
--     Limit
--       Index Scan accounts by accounts_by_id (id)

-- delivery-search.findClientKey by clientId: planned each time
prepare "delivery-search.findClientKey by clientId" (uuid) as
  select client_key from clients where id = $1 limit 1;
--   always
--     Limit
--       Index Scan clients by client_id_is_unique (id)

-- delivery-search.findClientKey by endpointId: planned each time
prepare "delivery-search.findClientKey by endpointId" (uuid) as
  select client_key from endpoints where id = $1 limit 1;
--   always
--     Limit
--       Index Scan endpoints by endpoints_by_id (id)

-- delivery-search.findEvent: planned each time
prepare "delivery-search.findEvent" (uuid) as
  select c.client_key from clients c
  join events e on e.client_key = c.client_key and e.id = $1 limit 1;
--   for values given: full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed
--     Limit
--       Nested Loop
--         Index Only Scan events_<day> by events_pkey (id)
--         Index Only Scan clients by clients_pkey (client_key)
--   for values given: full, analyzed, but of today there is nothing
--     Limit
--       Nested Loop
--         Index Only Scan events_<day> by events_in_feed_order (id)
--         Index Only Scan clients by clients_pkey (client_key)

-- delivery-search.findPayment: kept as find-owners-of-payment
prepare "delivery-search.findPayment" (uuid) as
  select client_key from payments where id = $1;
--   for any values: empty, never analyzed; full, never analyzed; full, analyzed when empty
--   for values given: full, never analyzed; full, analyzed when empty
--     Bitmap Heap Scan payments
--       Bitmap Index Scan payments by payments_pkey (id)
--   for any values: empty, analyzed
--     Index Only Scan payments by payments_newest (id)
--   for any values: empty, analyzed when full; full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Index Only Scan payments by payments_pkey (id)
