-- The statements of server/store/secrets/client-secrets.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- client-secrets.deleteSecret: planned each time
prepare "client-secrets.deleteSecret" (integer, uuid) as
  delete from client_secrets where client_key = $1 and id = $2;
--   always
--     Delete client_secrets
--       Index Scan client_secrets by client_secrets_pkey (client_key, id)

-- client-secrets.insertSecret: planned each time
prepare "client-secrets.insertSecret" (integer, uuid, bytea, text, timestamp with time zone) as
  insert into client_secrets (client_key, id, digest, master_key_id, created_at)
  values ($1, $2, $3, $4, $5);
--   always
--     Insert client_secrets
--       Result

-- client-secrets.listSecrets: planned each time
prepare "client-secrets.listSecrets" (integer) as
  select id, created_at from client_secrets where client_key = $1
  order by created_at, id;
--   for values given: full, never analyzed
--     Sort on created_at, id
--       Bitmap Heap Scan client_secrets
--         Bitmap Index Scan client_secrets by client_secrets_pkey (client_key)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on created_at, id
--       Index Scan client_secrets by client_secrets_pkey (client_key)

-- client-secrets.readCredentials: kept as read-credentials
prepare "client-secrets.readCredentials" (uuid[], bytea, text, uuid) as
  select asked.client_key, asked.status, coalesce(held.id, $4::uuid) as id,
  coalesce(held.digest, $2) as digest,
  coalesce(held.master_key_id, $3) as master_key_id
  from unnest((select $1::uuid[])::uuid[]) with ordinality as q (client_id, number)
  cross join lateral (
    select coalesce(max(client_key), -1) as client_key,
    coalesce(max(status), 'DISABLED') as status
    from clients where id = q.client_id
  ) as asked
  cross join generate_series(1, 2) as place
  left join lateral (
    select id, digest, master_key_id, row_number() over (order by created_at, id) as place
    from client_secrets where client_key = asked.client_key
  ) as held using (place)
  order by q.number, place;
--   for any values: empty, never analyzed; full, never analyzed
--   for values given: full, never analyzed
--     Incremental Sort on q.number, ((place.place)::bigint)
--       InitPlan 1: Result
--       Nested Loop left with a join filter
--         Nested Loop
--           Nested Loop
--             Function Scan unnest
--             Aggregate
--               Index Scan clients by client_id_is_unique (id)
--           Function Scan generate_series
--         Memoize
--           Subquery Scan
--             WindowAgg
--               Sort on client_secrets.created_at, client_secrets.id
--                 Bitmap Heap Scan client_secrets
--                   Bitmap Index Scan client_secrets by client_secrets_pkey (client_key)
--   for any values: empty, analyzed; empty, analyzed when full; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Incremental Sort on q.number, ((place.place)::bigint)
--       InitPlan 1: Result
--       Nested Loop left with a join filter
--         Nested Loop
--           Nested Loop
--             Function Scan unnest
--             Aggregate
--               Index Scan clients by client_id_is_unique (id)
--           Function Scan generate_series
--         Memoize
--           Subquery Scan
--             WindowAgg
--               Sort on client_secrets.created_at, client_secrets.id
--                 Index Scan client_secrets by client_secrets_pkey (client_key)

-- client-secrets.replaceDigest: planned each time
prepare "client-secrets.replaceDigest" (integer, uuid, bytea, text) as
  update client_secrets set digest = $3, master_key_id = $4
  where client_key = $1 and id = $2;
--   always
--     Update client_secrets
--       Index Scan client_secrets by client_secrets_pkey (client_key, id)
