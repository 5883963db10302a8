-- The statements of server/store/history/delivery-names.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- delivery-names.readDeliveryNames: kept as read-delivery-names
prepare "delivery-names.readDeliveryNames" (integer[], uuid[], uuid[]) as
  select c.name as client_name, a.name as account_name, p.text
  from unnest($1::int[], $2::uuid[], $3::uuid[]) with ordinality
  as k (client_key, account_id, payment_id, place)
  join clients c on c.client_key = k.client_key
  left join lateral (
    select a.name from accounts a
    where a.client_key = k.client_key and a.id = k.account_id limit 1) as a on true
  left join lateral (
    select p.text from payments p
    where p.id = k.payment_id and p.client_key = k.client_key limit 1) as p on true
  order by k.place;
--   for any values: empty, never analyzed; full, never analyzed
--   for values given: full, never analyzed
--     Nested Loop left
--       Nested Loop left
--         Nested Loop
--           Function Scan
--           Index Scan clients by clients_pkey (client_key)
--         Limit
--           Index Scan accounts by accounts_pkey (client_key, id)
--       Limit
--         Index Scan payments by payments_pkey (id, client_key)
--   for any values: empty, analyzed
--     Sort on k.place
--       Nested Loop left
--         Nested Loop left
--           Hash Join
--             Function Scan
--             Hash
--               Index Scan clients by clients_pkey
--           Limit
--             Index Scan accounts by accounts_by_id (id) filter (client_key)
--         Limit
--           Index Scan payments by payments_newest (client_key, id)
--   for any values: empty, analyzed when full; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Nested Loop left
--       Nested Loop left
--         Nested Loop
--           Function Scan
--           Index Scan clients by clients_pkey (client_key)
--         Limit
--           Index Scan accounts by accounts_by_id (id) filter (client_key)
--       Limit
--         Index Scan payments by payments_pkey (id, client_key)
