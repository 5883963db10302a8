-- The statements of server/store/secrets/clients.ts and their plans, without costs. Written by `npm run plans`;
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

-- clients.listClients by -createdAt: planned each time
prepare "clients.listClients by -createdAt" (bigint, bigint) as
  select all_of_them.total, shown.*
  from (select count(*) as total from clients where not is_internal and client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED'))) as all_of_them
  left join lateral (
    select client_key, id, name, status, created_at from clients where not is_internal and client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED'))
    order by created_at desc, id desc limit $1 offset $2
  ) as shown on true
  order by created_at desc, id desc;
--   always
--     Sort on clients_1.created_at DESC, clients_1.id DESC
--       Nested Loop left
--         Aggregate
--           InitPlan 1: Seq Scan client_moves filter (state)
--           Seq Scan clients filter (is_internal, client_key)
--         Limit
--           InitPlan 2: Seq Scan client_moves filter (state)
--           Incremental Sort on clients_1.created_at DESC, clients_1.id DESC
--             Index Scan clients by clients_by_age filter (is_internal, client_key)

-- clients.listClients by -name: planned each time
prepare "clients.listClients by -name" (bigint, bigint) as
  select all_of_them.total, shown.*
  from (select count(*) as total from clients where not is_internal and client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED'))) as all_of_them
  left join lateral (
    select client_key, id, name, status, created_at from clients where not is_internal and client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED'))
    order by lower(name) desc, id desc limit $1 offset $2
  ) as shown on true
  order by lower(name) desc, id desc;
--   always
--     Sort on (lower(clients_1.name)) DESC, clients_1.id DESC
--       Nested Loop left
--         Aggregate
--           InitPlan 1: Seq Scan client_moves filter (state)
--           Seq Scan clients filter (is_internal, client_key)
--         Limit
--           InitPlan 2: Seq Scan client_moves filter (state)
--           Incremental Sort on (lower(clients_1.name)) DESC, clients_1.id DESC
--             Index Scan clients by clients_by_name filter (is_internal, client_key)

-- clients.listClients by createdAt: planned each time
prepare "clients.listClients by createdAt" (bigint, bigint) as
  select all_of_them.total, shown.*
  from (select count(*) as total from clients where not is_internal and client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED'))) as all_of_them
  left join lateral (
    select client_key, id, name, status, created_at from clients where not is_internal and client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED'))
    order by created_at asc, id asc limit $1 offset $2
  ) as shown on true
  order by created_at asc, id asc;
--   always
--     Sort on clients_1.created_at, clients_1.id
--       Nested Loop left
--         Aggregate
--           InitPlan 1: Seq Scan client_moves filter (state)
--           Seq Scan clients filter (is_internal, client_key)
--         Limit
--           InitPlan 2: Seq Scan client_moves filter (state)
--           Incremental Sort on clients_1.created_at, clients_1.id
--             Index Scan clients by clients_by_age filter (is_internal, client_key)

-- clients.listClients by name: planned each time
prepare "clients.listClients by name" (bigint, bigint) as
  select all_of_them.total, shown.*
  from (select count(*) as total from clients where not is_internal and client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED'))) as all_of_them
  left join lateral (
    select client_key, id, name, status, created_at from clients where not is_internal and client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED'))
    order by lower(name) asc, id asc limit $1 offset $2
  ) as shown on true
  order by lower(name) asc, id asc;
--   always
--     Sort on (lower(clients_1.name)), clients_1.id
--       Nested Loop left
--         Aggregate
--           InitPlan 1: Seq Scan client_moves filter (state)
--           Seq Scan clients filter (is_internal, client_key)
--         Limit
--           InitPlan 2: Seq Scan client_moves filter (state)
--           Incremental Sort on (lower(clients_1.name)), clients_1.id
--             Index Scan clients by clients_by_name filter (is_internal, client_key)

-- clients.listClients by words: planned each time
prepare "clients.listClients by words" (bigint, bigint, text) as
  select all_of_them.total, shown.*
  from (select count(*) as total from clients where not is_internal and client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED')) and search_words(name) @@ search_query($3::text)) as all_of_them
  left join lateral (
    select client_key, id, name, status, created_at from clients where not is_internal and client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED')) and search_words(name) @@ search_query($3::text)
    order by lower(name) asc, id asc limit $1 offset $2
  ) as shown on true
  order by lower(name) asc, id asc;
--   always
--     Sort on (lower(clients_1.name)), clients_1.id
--       Nested Loop left
--         Aggregate
--           InitPlan 1: Seq Scan client_moves filter (state)
--           Bitmap Heap Scan clients filter (is_internal, client_key)
--             Bitmap Index Scan clients by clients_by_words (name)
--         Limit
--           InitPlan 2: Seq Scan client_moves filter (state)
--           Sort on (lower(clients_1.name)), clients_1.id
--             Bitmap Heap Scan clients filter (is_internal, client_key)
--               Bitmap Index Scan clients by clients_by_words (name)

-- clients.listClients with an id: planned each time
prepare "clients.listClients with an id" (bigint, bigint, uuid) as
  select all_of_them.total, shown.*
  from (select count(*) as total from clients where not is_internal and client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED')) and id = $3::uuid) as all_of_them
  left join lateral (
    select client_key, id, name, status, created_at from clients where not is_internal and client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED')) and id = $3::uuid
    order by lower(name) asc, id asc limit $1 offset $2
  ) as shown on true
  order by lower(name) asc, id asc;
--   always
--     Sort on (lower(clients_1.name)), clients_1.id
--       Nested Loop left
--         Aggregate
--           InitPlan 1: Seq Scan client_moves filter (state)
--           Index Scan clients by client_id_is_unique (id) filter (is_internal, client_key)
--         Limit
--           InitPlan 2: Seq Scan client_moves filter (state)
--           Sort on (lower(clients_1.name))
--             Index Scan clients by client_id_is_unique (id) filter (is_internal, client_key)

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
