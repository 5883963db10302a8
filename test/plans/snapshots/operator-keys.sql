-- The statements of server/store/secrets/operator-keys.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- operator-keys.insertKey: planned each time
prepare "operator-keys.insertKey" (uuid, text, text, bytea, text, timestamp with time zone) as
  insert into operator_keys (id, name, role, digest, master_key_id, created_at)
  values ($1, $2, $3, $4, $5, $6);
--   always
--     Insert operator_keys
--       Result

-- operator-keys.listKeys: planned each time
prepare "operator-keys.listKeys" (bigint, bigint) as
  select all_of_them.total, shown.*
  from (select count(*) as total from operator_keys) as all_of_them
  left join lateral (
    select id, name, role, created_at, revoked_at, last_used_at from operator_keys order by id limit $1 offset $2
  ) as shown on true
  order by shown.id;
--   for values given: full, never analyzed; full, analyzed when empty
--     Sort on operator_keys_1.id
--       Nested Loop left
--         Aggregate
--           Bitmap Heap Scan operator_keys
--             Bitmap Index Scan operator_keys by operator_keys_pkey
--         Limit
--           Index Scan operator_keys by operator_keys_pkey
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on operator_keys_1.id
--       Nested Loop left
--         Aggregate
--           Index Only Scan operator_keys by operator_keys_pkey
--         Limit
--           Index Scan operator_keys by operator_keys_pkey

-- operator-keys.readLiveKeys: kept as read-live-keys
prepare "operator-keys.readLiveKeys" as
  select id, name, role, digest, master_key_id from operator_keys
  where revoked_at is null order by name limit 100;
--   always
--     Limit
--       Index Scan operator_keys by one_live_key_per_name

-- operator-keys.replaceKeyDigest: planned each time
prepare "operator-keys.replaceKeyDigest" (uuid, bytea, text) as
  update operator_keys set digest = $2, master_key_id = $3 where id = $1;
--   always
--     Update operator_keys
--       Index Scan operator_keys by operator_keys_pkey (id)

-- operator-keys.revokeKey: planned each time
prepare "operator-keys.revokeKey" (uuid, timestamp with time zone) as
  update operator_keys set revoked_at = $2 where id = $1 and revoked_at is null;
--   for values given: full, never analyzed; full, analyzed when empty
--     Update operator_keys
--       Index Scan operator_keys by one_live_key_per_name filter (revoked_at, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Update operator_keys
--       Index Scan operator_keys by operator_keys_pkey (id) filter (revoked_at)

-- operator-keys.touchKey: kept as touch-key
prepare "operator-keys.touchKey" (uuid, timestamp with time zone) as
  update operator_keys set last_used_at = $2
  where id = $1 and (last_used_at is null or last_used_at < $2);
--   always
--     Update operator_keys
--       Index Scan operator_keys by operator_keys_pkey (id) filter (last_used_at)
