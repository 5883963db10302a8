-- The statements of server/store/endpoints/endpoint-lists.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- endpoint-lists.findAnyEndpoint: kept as find-any-endpoint
prepare "endpoint-lists.findAnyEndpoint" (uuid) as
  select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
  e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description, (select a.name from accounts a
    where a.client_key = e.client_key and a.id = e.account_id) as account_name from endpoints e join clients c on c.client_key = e.client_key
  where e.id = $1 and not c.is_internal limit 1;
--   for any values: empty, never analyzed; full, never analyzed
--   for values given: full, never analyzed
--     Limit
--       Nested Loop
--         Index Scan endpoints by endpoints_by_id (id)
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--         SubPlan 1: Index Scan accounts by accounts_pkey (client_key, id)
--   for any values: empty, analyzed
--     Limit
--       Nested Loop with a join filter
--         Index Scan endpoints by endpoints_pkey (id)
--         Index Scan clients by clients_pkey filter (is_internal)
--         SubPlan 1: Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for any values: empty, analyzed when full; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Nested Loop
--         Index Scan endpoints by endpoints_by_id (id)
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--         SubPlan 1: Index Scan accounts by accounts_by_id (id) filter (client_key)

-- endpoint-lists.listAllEndpoints by address: planned each time
prepare "endpoint-lists.listAllEndpoints by address" (bigint, bigint) as
  with matching as materialized (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description from clients c join endpoints e on e.client_key = c.client_key
    where e.deleted_at is null and not c.is_internal)
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (select * from matching order by url collate "C", id limit $1 offset $2) as shown
  on true
  order by url collate "C", id;
--   for values given: full, never analyzed
--     Sort on matching_1.url COLLATE "C", matching_1.id
--       CTE matching: Nested Loop
--         Index Scan endpoints by one_endpoint_per_address
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.url COLLATE "C", matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on matching_1.url COLLATE "C", matching_1.id
--       CTE matching: Hash Join
--         Index Scan endpoints by endpoints_pkey filter (deleted_at)
--         Hash
--           Index Scan clients by clients_pkey filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.url COLLATE "C", matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for values given: full, analyzed when empty
--     Sort on matching_1.url COLLATE "C", matching_1.id
--       CTE matching: Nested Loop
--         Index Scan endpoints by one_endpoint_per_address
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.url COLLATE "C", matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)

-- endpoint-lists.listAllEndpoints by an id: planned each time
prepare "endpoint-lists.listAllEndpoints by an id" (bigint, bigint, uuid) as
  with matching as materialized (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description from clients c join endpoints e on e.client_key = c.client_key
    where e.deleted_at is null and not c.is_internal and e.id = $3::uuid)
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (select * from matching order by created_at, id limit $1 offset $2) as shown
  on true
  order by created_at, id;
--   for values given: full, never analyzed
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop
--         Index Scan endpoints by one_endpoint_per_address filter (id)
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop
--         Index Scan endpoints by endpoints_by_id (id) filter (deleted_at)
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for values given: full, analyzed when empty
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop
--         Index Scan endpoints by one_endpoint_per_address filter (id)
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)

-- endpoint-lists.listAllEndpoints by words: planned each time
prepare "endpoint-lists.listAllEndpoints by words" (bigint, bigint, text) as
  with matching as materialized (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description from clients c join endpoints e on e.client_key = c.client_key
    where e.deleted_at is null and not c.is_internal and search_words(e.url) @@ search_query($3::text))
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (select * from matching order by created_at, id limit $1 offset $2) as shown
  on true
  order by created_at, id;
--   for values given: full, never analyzed
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop
--         Index Scan endpoints by one_endpoint_per_address filter (url)
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Hash Join
--         Index Scan endpoints by endpoints_pkey filter (deleted_at, url)
--         Hash
--           Index Scan clients by clients_pkey filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for values given: full, analyzed when empty
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop
--         Index Scan endpoints by one_endpoint_per_address filter (url)
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)

-- endpoint-lists.listAllEndpoints failing: planned each time
prepare "endpoint-lists.listAllEndpoints failing" (bigint, bigint) as
  with matching as materialized (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description from clients c join endpoints e on e.client_key = c.client_key
    where e.deleted_at is null and not c.is_internal and exists (select from endpoint_health h where h.client_key = e.client_key
      and h.endpoint_id = e.id and h.failing_since is not null))
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (select * from matching order by created_at, id limit $1 offset $2) as shown
  on true
  order by created_at, id;
--   for values given: full, never analyzed
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop with a join filter
--         Nested Loop
--           Index Scan endpoints by one_endpoint_per_address
--           Index Scan clients by clients_pkey (client_key) filter (is_internal)
--         Index Scan endpoint_health by endpoint_health_pkey (client_key) filter (failing_since)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop
--         Hash Join
--           Index Scan endpoints by endpoints_pkey filter (deleted_at)
--           Hash
--             Index Scan endpoint_health by endpoints_failing
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for values given: full, analyzed when empty
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop with a join filter
--         Nested Loop
--           Index Scan endpoints by one_endpoint_per_address
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id) filter (failing_since)
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)

-- endpoint-lists.listAllEndpoints failing, the longest first: planned each time
prepare "endpoint-lists.listAllEndpoints failing, the longest first" (bigint, bigint) as
  with matching as materialized (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description, h.failing_since from clients c join endpoints e on e.client_key = c.client_key left join endpoint_health h on h.client_key = e.client_key and h.endpoint_id = e.id
    where e.deleted_at is null and not c.is_internal and exists (select from endpoint_health h where h.client_key = e.client_key
      and h.endpoint_id = e.id and h.failing_since is not null))
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (select * from matching order by failing_since, id limit $1 offset $2) as shown
  on true
  order by failing_since, id;
--   for values given: full, never analyzed
--     Sort on matching_1.failing_since, matching_1.id
--       CTE matching: Nested Loop with a join filter
--         Nested Loop left
--           Nested Loop
--             Index Scan endpoints by one_endpoint_per_address
--             Index Scan clients by clients_pkey (client_key) filter (is_internal)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--         Index Scan endpoint_health by endpoint_health_pkey (client_key) filter (failing_since)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.failing_since, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on matching_1.failing_since, matching_1.id
--       CTE matching: Nested Loop left
--         Nested Loop
--           Hash Join
--             Index Scan endpoints by endpoints_pkey filter (deleted_at)
--             Hash
--               Index Scan endpoint_health by endpoints_failing
--           Index Scan clients by clients_pkey (client_key) filter (is_internal)
--         Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.failing_since, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for values given: full, analyzed when empty
--     Sort on matching_1.failing_since, matching_1.id
--       CTE matching: Nested Loop left
--         Nested Loop with a join filter
--           Nested Loop
--             Index Scan endpoints by one_endpoint_per_address
--             Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id) filter (failing_since)
--           Index Scan clients by clients_pkey (client_key) filter (is_internal)
--         Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.failing_since, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)

-- endpoint-lists.listAllEndpoints in a status: planned each time
prepare "endpoint-lists.listAllEndpoints in a status" (bigint, bigint, text) as
  with matching as materialized (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description from clients c join endpoints e on e.client_key = c.client_key
    where e.deleted_at is null and not c.is_internal and e.status = $3)
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (select * from matching order by created_at, id limit $1 offset $2) as shown
  on true
  order by created_at, id;
--   for values given: full, never analyzed
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop
--         Index Scan endpoints by endpoints_disabled
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop
--         Index Scan endpoints by endpoints_disabled
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)

-- endpoint-lists.listAllEndpoints not failing: planned each time
prepare "endpoint-lists.listAllEndpoints not failing" (bigint, bigint) as
  with matching as materialized (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description from clients c join endpoints e on e.client_key = c.client_key
    where e.deleted_at is null and not c.is_internal and not exists (select from endpoint_health h where h.client_key = e.client_key
      and h.endpoint_id = e.id and h.failing_since is not null))
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (select * from matching order by created_at, id limit $1 offset $2) as shown
  on true
  order by created_at, id;
--   for values given: full, never analyzed
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop anti
--         Nested Loop
--           Index Scan endpoints by one_endpoint_per_address
--           Index Scan clients by clients_pkey (client_key) filter (is_internal)
--         Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id) filter (failing_since)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Hash Join
--         Merge Join anti
--           Index Scan endpoints by endpoints_pkey filter (deleted_at)
--           Sort on h.client_key, h.endpoint_id
--             Index Scan endpoint_health by endpoints_failing
--         Hash
--           Index Scan clients by clients_pkey filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for values given: full, analyzed when empty
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop anti
--         Nested Loop
--           Index Scan endpoints by one_endpoint_per_address
--           Index Scan clients by clients_pkey (client_key) filter (is_internal)
--         Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id) filter (failing_since)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)

-- endpoint-lists.listAllEndpoints of a client: planned each time
prepare "endpoint-lists.listAllEndpoints of a client" (bigint, bigint, uuid) as
  with matching as materialized (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description from clients c join endpoints e on e.client_key = c.client_key
    where e.deleted_at is null and not c.is_internal and c.id = $3)
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (select * from matching order by created_at, id limit $1 offset $2) as shown
  on true
  order by created_at, id;
--   for values given: full, never analyzed
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop with a join filter
--         Index Scan clients by client_id_is_unique (id) filter (is_internal)
--         Index Scan endpoints by one_endpoint_per_address
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop
--         Index Scan clients by client_id_is_unique (id) filter (is_internal)
--         Index Scan endpoints by one_endpoint_per_address (client_key)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for values given: full, analyzed when empty
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop with a join filter
--         Index Scan clients by client_id_is_unique (id) filter (is_internal)
--         Index Scan endpoints by one_endpoint_per_address
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)

-- endpoint-lists.listAllEndpoints of a kind: planned each time
prepare "endpoint-lists.listAllEndpoints of a kind" (bigint, bigint, text) as
  with matching as materialized (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description from clients c join endpoints e on e.client_key = c.client_key
    where e.deleted_at is null and not c.is_internal and e.kind = $3)
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (select * from matching order by created_at, id limit $1 offset $2) as shown
  on true
  order by created_at, id;
--   for values given: full, never analyzed
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop
--         Index Scan endpoints by one_endpoint_per_address filter (kind)
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Merge Join
--         Index Scan clients by clients_pkey filter (is_internal)
--         Index Scan endpoints by endpoints_pkey filter (deleted_at, kind)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for values given: full, analyzed when empty
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop
--         Index Scan endpoints by one_endpoint_per_address filter (kind)
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)

-- endpoint-lists.listAllEndpoints of all: planned each time
prepare "endpoint-lists.listAllEndpoints of all" (bigint, bigint) as
  with matching as materialized (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description from clients c join endpoints e on e.client_key = c.client_key
    where e.deleted_at is null and not c.is_internal)
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (select * from matching order by created_at, id limit $1 offset $2) as shown
  on true
  order by created_at, id;
--   for values given: full, never analyzed
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop
--         Index Scan endpoints by one_endpoint_per_address
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Hash Join
--         Index Scan endpoints by endpoints_pkey filter (deleted_at)
--         Hash
--           Index Scan clients by clients_pkey filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for values given: full, analyzed when empty
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop
--         Index Scan endpoints by one_endpoint_per_address
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)

-- endpoint-lists.listAllEndpoints of an account: planned each time
prepare "endpoint-lists.listAllEndpoints of an account" (bigint, bigint, uuid) as
  with matching as materialized (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description from clients c join endpoints e on e.client_key = c.client_key
    where e.deleted_at is null and not c.is_internal and e.account_id = $3)
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (select * from matching order by created_at, id limit $1 offset $2) as shown
  on true
  order by created_at, id;
--   for values given: full, never analyzed
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop
--         Index Scan endpoints by one_endpoint_per_address filter (account_id)
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Merge Join
--         Index Scan clients by clients_pkey filter (is_internal)
--         Index Scan endpoints by endpoints_pkey filter (deleted_at, account_id)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for values given: full, analyzed when empty
--     Sort on matching_1.created_at, matching_1.id
--       CTE matching: Nested Loop
--         Index Scan endpoints by one_endpoint_per_address filter (account_id)
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Aggregate
--           CTE Scan matching
--         Limit
--           Sort on matching_1.created_at, matching_1.id
--             CTE Scan matching
--         SubPlan 2: Index Scan accounts by accounts_by_id (id) filter (client_key)

-- endpoint-lists.readHealthOf: kept as read-health-of-endpoints
prepare "endpoint-lists.readHealthOf" (integer[], uuid[], timestamp with time zone, bigint) as
  select k.endpoint_id, h.failing_since, h.last_success_at, h.last_error, h.circuit,
  h.next_probe_at,
  (select count(*)::int from (
      select from pending_deliveries p
      where p.endpoint_id = k.endpoint_id and p.client_key + 0 = k.client_key limit $4) as owed) as pending,
  d.attempts, d.delivered, d.durations
  from unnest($1::int[], $2::uuid[]) as k (client_key, endpoint_id)
  cross join lateral (
    select coalesce(sum(attempts), 0)::int as attempts,
    coalesce(sum(delivered), 0)::int as delivered, array_agg(durations) as durations
    from endpoint_hours o
    where o.client_key = k.client_key and o.endpoint_id = k.endpoint_id and o.hour > $3) as d
  left join endpoint_health h
  on h.client_key = k.client_key and h.endpoint_id = k.endpoint_id;
--   for any values: empty, never analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Nested Loop left
--       Nested Loop
--         Function Scan
--         Aggregate
--           Index Scan endpoint_hours by endpoint_hours_pkey (client_key, endpoint_id, hour)
--       Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--       SubPlan 1: Aggregate
--         Limit
--           Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--   for any values: empty, analyzed
--     Nested Loop left with a join filter
--       Nested Loop
--         Function Scan
--         Aggregate
--           Index Scan endpoint_hours by endpoint_hours_pkey (client_key, endpoint_id, hour)
--       Materialize
--         Index Scan endpoint_health by endpoint_health_pkey
--       SubPlan 1: Aggregate
--         Limit
--           Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--   for any values: empty, analyzed when full; full, never analyzed; full, analyzed
--   for values given: full, never analyzed; full, analyzed
--     Nested Loop left
--       Nested Loop
--         Function Scan
--         Aggregate
--           Index Scan endpoint_hours by endpoint_hours_pkey (client_key, endpoint_id, hour)
--       Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--       SubPlan 1: Aggregate
--         Limit
--           Bitmap Heap Scan pending_deliveries filter (client_key)
--             Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)

-- endpoint-lists.readTroubled: kept as read-troubled-endpoints
prepare "endpoint-lists.readTroubled" (bigint, bigint) as
  with failing as (
    select h.client_key, h.endpoint_id from endpoint_health h
    join endpoints e on e.client_key = h.client_key and e.id = h.endpoint_id
    where h.failing_since is not null and e.deleted_at is null and e.kind not in ('notice', 'client-notice')
    order by h.failing_since limit $1
  ), disabled as (
    select e.client_key, e.id as endpoint_id from endpoints e
    where e.status = 'DISABLED' and e.deleted_at is null and e.kind not in ('notice', 'client-notice')
    order by e.client_key, e.id limit $1
  )
  select e.id, c.id as client_id, c.name as client_name, e.url, e.status, h.circuit, h.next_probe_at,
  h.failing_since, h.last_error,
  (select count(*)::int from (
      select from pending_deliveries p
      where p.endpoint_id = e.id and p.client_key + 0 = e.client_key limit $2) as owed) as pending
  from (select * from failing union select * from disabled) as t
  join endpoints e on e.client_key = t.client_key and e.id = t.endpoint_id
  join clients c on c.client_key = e.client_key
  left join endpoint_health h
  on h.client_key = e.client_key and h.endpoint_id = e.id
  order by h.failing_since nulls last, e.id limit $1;
--   for any values: empty, never analyzed; full, analyzed when empty
--   for values given: full, analyzed when empty
--     Limit
--       Result
--         Sort on h.failing_since, e.id
--           Nested Loop left
--             Nested Loop
--               Nested Loop
--                 Unique
--                   Merge Append on failing.client_key, failing.endpoint_id
--                     Sort on failing.client_key, failing.endpoint_id
--                       Subquery Scan
--                         Limit
--                           Sort on h_1.failing_since
--                             Nested Loop
--                               Index Scan endpoints by one_endpoint_per_address filter (kind)
--                               Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id) filter (failing_since)
--                     Limit
--                       Index Scan endpoints by endpoints_disabled filter (kind)
--                 Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--   for any values: empty, analyzed
--     Limit
--       Result
--         Sort on h.failing_since, e.id
--           Nested Loop left with a join filter
--             Nested Loop
--               Merge Join
--                 Unique
--                   Merge Append on failing.client_key, failing.endpoint_id
--                     Sort on failing.client_key, failing.endpoint_id
--                       Subquery Scan
--                         Limit
--                           Nested Loop with a join filter
--                             Index Scan endpoint_health by endpoints_failing
--                             Index Scan endpoints by endpoints_by_id filter (deleted_at, kind)
--                     Limit
--                       Index Scan endpoints by endpoints_disabled filter (kind)
--                 Index Scan clients by clients_pkey
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan endpoint_health by endpoint_health_pkey
--         SubPlan 1: Aggregate
--           Limit
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--   for any values: full, never analyzed
--   for values given: full, never analyzed
--     Limit
--       Result
--         Sort on h.failing_since, e.id
--           Nested Loop left
--             Nested Loop
--               Nested Loop
--                 Unique
--                   Merge Append on failing.client_key, failing.endpoint_id
--                     Sort on failing.client_key, failing.endpoint_id
--                       Subquery Scan
--                         Limit
--                           Sort on h_1.failing_since
--                             Nested Loop
--                               Index Scan endpoints by one_endpoint_per_address filter (kind)
--                               Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id) filter (failing_since)
--                     Limit
--                       Index Scan endpoints by endpoints_disabled filter (kind)
--                 Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Bitmap Heap Scan pending_deliveries filter (client_key)
--               Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--   for any values: empty, analyzed when full; full, analyzed
--     Limit
--       Result
--         Sort on h.failing_since, e.id
--           Nested Loop left
--             Nested Loop
--               Nested Loop
--                 Unique
--                   Merge Append on failing.client_key, failing.endpoint_id
--                     Sort on failing.client_key, failing.endpoint_id
--                       Subquery Scan
--                         Limit
--                           Sort on h_1.failing_since
--                             Hash Join
--                               Index Scan endpoints by endpoints_pkey filter (deleted_at, kind)
--                               Hash
--                                 Index Scan endpoint_health by endpoints_failing
--                     Limit
--                       Index Scan endpoints by endpoints_disabled filter (kind)
--                 Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Bitmap Heap Scan pending_deliveries filter (client_key)
--               Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--   for values given: full, analyzed
--     Limit
--       Result
--         Sort on h.failing_since, e.id
--           Nested Loop left
--             Nested Loop with a join filter
--               Nested Loop
--                 Unique
--                   Merge Append on failing.client_key, failing.endpoint_id
--                     Sort on failing.client_key, failing.endpoint_id
--                       Subquery Scan
--                         Limit
--                           Sort on h_1.failing_since
--                             Hash Join
--                               Index Scan endpoints by endpoints_pkey filter (deleted_at, kind)
--                               Hash
--                                 Index Scan endpoint_health by endpoints_failing
--                     Limit
--                       Index Scan endpoints by endpoints_disabled filter (kind)
--                 Index Scan clients by clients_pkey (client_key)
--               Index Scan endpoints by endpoints_pkey (client_key)
--             Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Bitmap Heap Scan pending_deliveries filter (client_key)
--               Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--   for any values: full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Result
--         Sort on h.failing_since, e.id
--           Nested Loop left
--             Nested Loop
--               Nested Loop
--                 Unique
--                   Merge Append on failing.client_key, failing.endpoint_id
--                     Sort on failing.client_key, failing.endpoint_id
--                       Subquery Scan
--                         Limit
--                           Sort on h_1.failing_since
--                             Hash Join
--                               Index Scan endpoints by endpoints_pkey filter (deleted_at, kind)
--                               Hash
--                                 Index Scan endpoint_health by endpoints_failing
--                     Limit
--                       Index Scan endpoints by endpoints_disabled filter (kind)
--                 Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--   for values given: full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Result
--         Sort on h.failing_since, e.id
--           Nested Loop left
--             Nested Loop with a join filter
--               Nested Loop
--                 Unique
--                   Merge Append on failing.client_key, failing.endpoint_id
--                     Sort on failing.client_key, failing.endpoint_id
--                       Subquery Scan
--                         Limit
--                           Sort on h_1.failing_since
--                             Hash Join
--                               Index Scan endpoints by endpoints_pkey filter (deleted_at, kind)
--                               Hash
--                                 Index Scan endpoint_health by endpoints_failing
--                     Limit
--                       Index Scan endpoints by endpoints_disabled filter (kind)
--                 Index Scan clients by clients_pkey (client_key)
--               Index Scan endpoints by endpoints_pkey (client_key)
--             Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
