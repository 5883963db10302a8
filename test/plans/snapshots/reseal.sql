-- The statements of server/store/secrets/reseal.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- reseal.countForeignDigests: planned each time
prepare "reseal.countForeignDigests" (text) as
  select
  (select count(*)::int from client_secrets where master_key_id <> $1) as client_secrets,
  (select count(*)::int from operator_keys
    where master_key_id <> $1 and revoked_at is null) as operator_keys;
--   always
--     Result
--       InitPlan 1: Aggregate
--         Seq Scan client_secrets filter (master_key_id)
--       InitPlan 2: Aggregate
--         Index Scan operator_keys by one_live_key_per_name filter (master_key_id)

-- reseal.readEndpointsToReseal: kept as read-endpoints-to-reseal
prepare "reseal.readEndpointsToReseal" (bytea, integer, uuid, bigint) as
  select client_key, id, shared_key, previous_key, header_value from endpoints
  where (client_key, id) > ($2, $3)
  and ((shared_key is not null and substring(shared_key from 1 for 5) <> $1::bytea) or (previous_key is not null and substring(previous_key from 1 for 5) <> $1::bytea) or (header_value is not null and substring(header_value from 1 for 5) <> $1::bytea))
  order by client_key, id limit $4;
--   always
--     Limit
--       Index Scan endpoints by endpoints_pkey (client_key, id) filter (shared_key, previous_key, header_value)

-- reseal.readSigningKeysToReseal of signing_keys: planned each time
prepare "reseal.readSigningKeysToReseal of signing_keys" (bytea) as
  select kid, private_key from signing_keys where (private_key is not null and substring(private_key from 1 for 5) <> $1::bytea) order by kid;
--   always
--     Index Scan signing_keys by signing_keys_pkey filter (private_key)

-- reseal.readSigningKeysToReseal of webhook_keys: planned each time
prepare "reseal.readSigningKeysToReseal of webhook_keys" (bytea) as
  select kid, private_key from webhook_keys where (private_key is not null and substring(private_key from 1 for 5) <> $1::bytea) order by kid;
--   always
--     Index Scan webhook_keys by webhook_keys_pkey filter (private_key)

-- reseal.replaceSealedEndpoints: kept as replace-sealed-endpoints
prepare "reseal.replaceSealedEndpoints" (integer[], uuid[], bytea[], bytea[], bytea[], bytea[], bytea[], bytea[]) as
  update endpoints e set shared_key = g.shared_key, previous_key = g.previous_key,
  header_value = g.header_value
  from unnest($1::int[], $2::uuid[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[],
    $7::bytea[], $8::bytea[])
  as g (client_key, id, shared_key, previous_key, header_value, old_shared_key,
    old_previous_key, old_header_value)
  where e.client_key = g.client_key and e.id = g.id and e.shared_key = g.old_shared_key
  and e.previous_key is not distinct from g.old_previous_key
  and e.header_value is not distinct from g.old_header_value;
--   for any values: empty, never analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Update endpoints
--       Nested Loop
--         Function Scan
--         Index Scan endpoints by endpoints_by_id (id) filter (previous_key, header_value, client_key, shared_key)
--   for any values: empty, analyzed
--     Update endpoints
--       Hash Join with a join filter
--         Function Scan
--         Hash
--           Index Scan endpoints by endpoints_by_id

-- reseal.replaceSealedSigningKeys of signing_keys: planned each time
prepare "reseal.replaceSealedSigningKeys of signing_keys" (text[], bytea[], bytea[]) as
  update signing_keys k set private_key = g.private_key
  from unnest($1::text[], $2::bytea[], $3::bytea[]) as g (kid, private_key, old_private_key)
  where k.kid = g.kid and k.private_key = g.old_private_key;
--   always
--     Update signing_keys
--       Nested Loop
--         Function Scan
--         Index Scan signing_keys by signing_keys_pkey (kid) filter (private_key)

-- reseal.replaceSealedSigningKeys of webhook_keys: planned each time
prepare "reseal.replaceSealedSigningKeys of webhook_keys" (text[], bytea[], bytea[]) as
  update webhook_keys k set private_key = g.private_key
  from unnest($1::text[], $2::bytea[], $3::bytea[]) as g (kid, private_key, old_private_key)
  where k.kid = g.kid and k.private_key = g.old_private_key;
--   always
--     Update webhook_keys
--       Nested Loop
--         Function Scan
--         Index Scan webhook_keys by webhook_keys_pkey (kid) filter (private_key)
