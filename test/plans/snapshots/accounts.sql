-- The statements of server/store/secrets/accounts.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- accounts.findClientsOfAccounts: kept as find-clients-of-accounts, hot path
prepare "accounts.findClientsOfAccounts" (uuid[]) as
  select id, client_key from accounts where id = any($1::uuid[]);
--   for any values: empty, never analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, never analyzed
--     Bitmap Heap Scan accounts
--       Bitmap Index Scan accounts by accounts_by_id (id)
--   for any values: empty, analyzed
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Index Scan accounts by accounts_by_id (id)

-- accounts.insertAccount: planned each time
prepare "accounts.insertAccount" (integer, uuid, text, timestamp with time zone) as
  insert into accounts (client_key, id, name, created_at) values ($1, $2, $3, $4);
--   always
--     Insert accounts
--       Result

-- accounts.listAccounts: planned each time
prepare "accounts.listAccounts" (integer, bigint, bigint) as
  select all_of_them.total, shown.id, shown.name
  from (select count(*) as total from accounts where client_key = $1) as all_of_them
  left join lateral (
    select id, name, created_at from accounts where client_key = $1
    order by created_at, id limit $2 offset $3
  ) as shown on true
  order by shown.created_at, shown.id;
--   for values given: full, never analyzed
--     Sort on accounts_1.created_at, accounts_1.id
--       Nested Loop left
--         Aggregate
--           Bitmap Heap Scan accounts
--             Bitmap Index Scan accounts by accounts_pkey (client_key)
--         Limit
--           Sort on accounts_1.created_at, accounts_1.id
--             Bitmap Heap Scan accounts
--               Bitmap Index Scan accounts by accounts_pkey (client_key)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on accounts_1.created_at, accounts_1.id
--       Nested Loop left
--         Aggregate
--           Index Only Scan accounts by accounts_pkey (client_key)
--         Limit
--           Sort on accounts_1.created_at, accounts_1.id
--             Index Scan accounts by accounts_pkey (client_key)
