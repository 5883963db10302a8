-- The statements of server/store/clients.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- clients.findClient: kept as find-client
prepare "clients.findClient" (uuid) as
  select client_key, id, name, status, created_at from clients where id = $1 and not is_internal;
--   always
--     Index Scan clients by client_id_is_unique (id) filter (is_internal)

-- clients.insertClient: planned each time
prepare "clients.insertClient" (uuid, text, timestamp with time zone) as
  insert into clients (id, name, created_at) values ($1, $2, $3) returning client_key, id, name, status, created_at;
--   always
--     Insert clients
--       Result

-- clients.listClients: planned each time
prepare "clients.listClients" (bigint, bigint) as
  select all_of_them.total, shown.*
  from (select count(*) as total from clients where not is_internal) as all_of_them
  left join lateral (
    select client_key, id, name, status, created_at from clients where not is_internal
    order by created_at, id limit $1 offset $2
  ) as shown on true
  order by shown.created_at, shown.id;
--   always
--     Sort on clients_1.created_at, clients_1.id
--       Nested Loop left
--         Aggregate
--           Seq Scan clients filter (is_internal)
--         Limit
--           Sort on clients_1.created_at, clients_1.id
--             Seq Scan clients filter (is_internal)

-- clients.lockClient: kept as lock-client
prepare "clients.lockClient" (integer) as
  select 1 from clients where client_key = $1 for no key update;
--   always
--     LockRows
--       Index Scan clients by clients_pkey (client_key)

-- clients.setClientStatus: planned each time
prepare "clients.setClientStatus" (uuid, text) as
  update clients set status = $2 where id = $1 and not is_internal returning client_key, id, name, status, created_at;
--   always
--     Update clients
--       Index Scan clients by client_id_is_unique (id) filter (is_internal)
