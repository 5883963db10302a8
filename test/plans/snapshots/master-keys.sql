-- The statements of server/store/secrets/master-keys.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- master-keys.countSecretsByMasterKey: kept as count-secrets-by-master-key
prepare "master-keys.countSecretsByMasterKey" as
  select id, count(*) as count from (
    select split_part(master_key_id, '/', 1) as id from client_secrets
    union all
    select split_part(master_key_id, '/', 1) from operator_keys where revoked_at is null
    union all
    select encode(substring(private_key from 2 for 4), 'hex') from signing_keys
    union all
    select encode(substring(private_key from 2 for 4), 'hex') from webhook_keys
    where private_key is not null
    union all
    select encode(substring(authentication from 1 for 4), 'hex')
    from (select authentication from signing_keys
      union all select authentication from webhook_keys) as keys
    where authentication is not null
    union all
    select encode(substring(sealed from 2 for 4), 'hex')
    from endpoints, unnest(array[shared_key, previous_key, header_value]) as sealed
    where sealed is not null and deleted_at is null
  ) as secret group by id order by id;
--   for any values: empty, never analyzed; full, never analyzed; full, analyzed when empty
--     Sort on (split_part(client_secrets.master_key_id, '/'::text, 1))
--       Aggregate
--         Append
--           Seq Scan client_secrets
--           Index Scan operator_keys by one_live_key_per_name
--           Seq Scan signing_keys
--           Seq Scan webhook_keys filter (private_key)
--           Result
--             Append
--               Seq Scan signing_keys filter (authentication)
--               Seq Scan webhook_keys filter (authentication)
--           Nested Loop
--             Index Scan endpoints by one_endpoint_per_address
--             Function Scan unnest
--   for any values: empty, analyzed
--     Aggregate
--       Sort on (split_part(client_secrets.master_key_id, '/'::text, 1))
--         Append
--           Seq Scan client_secrets
--           Index Scan operator_keys by one_live_key_per_name
--           Seq Scan signing_keys
--           Seq Scan webhook_keys filter (private_key)
--           Result
--             Append
--               Seq Scan signing_keys filter (authentication)
--               Seq Scan webhook_keys filter (authentication)
--           Nested Loop
--             Index Scan endpoints by one_endpoint_per_address
--             Function Scan unnest
--   for any values: empty, analyzed when full; full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on (split_part(client_secrets.master_key_id, '/'::text, 1))
--       Aggregate
--         Append
--           Seq Scan client_secrets
--           Index Scan operator_keys by one_live_key_per_name
--           Seq Scan signing_keys
--           Seq Scan webhook_keys filter (private_key)
--           Result
--             Append
--               Seq Scan signing_keys filter (authentication)
--               Seq Scan webhook_keys filter (authentication)
--           Nested Loop
--             Bitmap Heap Scan endpoints
--               Bitmap Index Scan endpoints by one_endpoint_per_address
--             Function Scan unnest
