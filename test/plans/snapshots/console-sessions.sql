-- The statements of server/store/secrets/console-sessions.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- console-sessions.deleteOldClientLinks: planned each time
prepare "console-sessions.deleteOldClientLinks" (timestamp with time zone) as
  delete from client_console_links where expires_at <= $1;
--   always
--     Delete client_console_links
--       Index Scan client_console_links by client_console_links_by_end (expires_at)

-- console-sessions.deleteOldLinks: planned each time
prepare "console-sessions.deleteOldLinks" (timestamp with time zone) as
  delete from console_links where expires_at <= $1;
--   always
--     Delete console_links
--       Seq Scan console_links filter (expires_at)

-- console-sessions.deleteSession: planned each time
prepare "console-sessions.deleteSession" (bytea) as
  delete from console_sessions where digest = $1;
--   always
--     Delete console_sessions
--       Index Scan console_sessions by console_sessions_pkey (digest)

-- console-sessions.deleteSurplus of a client: planned each time
prepare "console-sessions.deleteSurplus of a client" (integer) as
  delete from console_sessions where digest in (
    select digest from console_sessions where client_key = $1
    order by created_at desc offset 50);
--   for values given: full, never analyzed; full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Delete console_sessions
--       Nested Loop
--         Aggregate
--           Subquery Scan
--             Limit
--               Sort on console_sessions_1.created_at DESC
--                 Bitmap Heap Scan console_sessions
--                   Bitmap Index Scan console_sessions by console_sessions_by_client (client_key)
--         Index Scan console_sessions by console_sessions_pkey (digest)
--   for values given: full, analyzed when empty
--     Delete console_sessions
--       Nested Loop
--         Aggregate
--           Subquery Scan
--             Limit
--               Index Scan console_sessions by console_sessions_by_client (client_key)
--         Index Scan console_sessions by console_sessions_pkey (digest)

-- console-sessions.deleteSurplus of an operator key: planned each time
prepare "console-sessions.deleteSurplus of an operator key" (uuid) as
  delete from console_sessions where digest in (
    select digest from console_sessions where operator_key_id = $1
    order by created_at desc offset 50);
--   for values given: full, never analyzed
--     Delete console_sessions
--       Nested Loop
--         Aggregate
--           Subquery Scan
--             Limit
--               Sort on console_sessions_1.created_at DESC
--                 Bitmap Heap Scan console_sessions
--                   Bitmap Index Scan console_sessions by console_sessions_by_operator_key (operator_key_id)
--         Index Scan console_sessions by console_sessions_pkey (digest)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Delete console_sessions
--       Nested Loop
--         Aggregate
--           Subquery Scan
--             Limit
--               Index Scan console_sessions by console_sessions_by_operator_key (operator_key_id)
--         Index Scan console_sessions by console_sessions_pkey (digest)

-- console-sessions.deleteSurplus of the first key: planned each time
prepare "console-sessions.deleteSurplus of the first key" as
  delete from console_sessions where digest in (
    select digest from console_sessions where first_key_digest is not null
    order by created_at desc offset 50);
--   for any values: empty, never analyzed; full, never analyzed
--     Delete console_sessions
--       Hash Join right semi
--         Subquery Scan
--           Limit
--             Index Scan console_sessions by console_sessions_of_the_first_key
--         Hash
--           Index Scan console_sessions by console_sessions_pkey
--   for any values: empty, analyzed
--     Delete console_sessions
--       Nested Loop semi with a join filter
--         Index Scan console_sessions by console_sessions_pkey
--         Subquery Scan
--           Limit
--             Index Scan console_sessions by console_sessions_of_the_first_key
--   for any values: empty, analyzed when full; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Delete console_sessions
--       Hash Join semi
--         Index Scan console_sessions by console_sessions_pkey
--         Hash
--           Subquery Scan
--             Limit
--               Index Scan console_sessions by console_sessions_of_the_first_key

-- console-sessions.findSession: kept as find-console-session
prepare "console-sessions.findSession" (bytea, timestamp with time zone) as
  select s.id, s.expires_at, s.first_key_digest, s.first_key_master_key_id,
  k.name as key_name, k.role as key_role,
  c.client_key, c.id as client_id, c.name as client_name
  from console_sessions s
  left join operator_keys k on k.id = s.operator_key_id and k.revoked_at is null
  left join client_secrets cs
  on cs.client_key = s.client_key and cs.id = s.client_secret_id
  left join clients c on c.client_key = s.client_key and c.status = 'ACTIVE'
  and (s.client_secret_id is null or cs.id is not null)
  where s.digest = $1 and s.expires_at > $2;
--   for any values: empty, never analyzed; full, never analyzed; full, analyzed when empty
--   for values given: full, never analyzed; full, analyzed when empty
--     Nested Loop left with a join filter
--       Nested Loop left
--         Nested Loop left with a join filter
--           Index Scan console_sessions by console_sessions_pkey (digest) filter (expires_at)
--           Index Scan operator_keys by one_live_key_per_name
--         Index Only Scan client_secrets by client_secrets_pkey (client_key, id)
--       Index Scan clients by clients_pkey (client_key) filter (status)
--   for any values: empty, analyzed
--     Nested Loop left with a join filter
--       Nested Loop left with a join filter
--         Nested Loop left with a join filter
--           Index Scan console_sessions by console_sessions_by_end (expires_at) filter (digest)
--           Index Scan operator_keys by operator_keys_pkey filter (revoked_at)
--         Index Only Scan client_secrets by client_secrets_pkey
--       Index Scan clients by clients_pkey filter (status)
--   for any values: empty, analyzed when full; full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Nested Loop left with a join filter
--       Nested Loop left
--         Nested Loop left
--           Index Scan console_sessions by console_sessions_pkey (digest) filter (expires_at)
--           Index Scan operator_keys by operator_keys_pkey (id) filter (revoked_at)
--         Index Only Scan client_secrets by client_secrets_pkey (client_key, id)
--       Index Scan clients by clients_pkey (client_key) filter (status)

-- console-sessions.insertClientLink: planned each time
prepare "console-sessions.insertClientLink" (bytea, integer, timestamp with time zone) as
  insert into client_console_links (digest, client_key, expires_at) values ($1, $2, $3);
--   always
--     Insert client_console_links
--       Result

-- console-sessions.insertLink: planned each time
prepare "console-sessions.insertLink" (bytea, timestamp with time zone) as
  insert into console_links (digest, expires_at) values ($1, $2);
--   always
--     Insert console_links
--       Result

-- console-sessions.insertSession of the first key: planned each time
prepare "console-sessions.insertSession of the first key" (bytea, uuid, bytea, text, uuid, integer, uuid, timestamp with time zone, timestamp with time zone) as
  insert into console_sessions (digest, id, first_key_digest, first_key_master_key_id,
    operator_key_id, client_key, client_secret_id, created_at, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9);
--   always
--     Insert console_sessions
--       Result

-- console-sessions.insertSession of the first key 2: planned each time
prepare "console-sessions.insertSession of the first key 2" (timestamp with time zone) as
  delete from console_sessions where expires_at <= $1;
--   for values given: full, never analyzed; full, analyzed when empty
--     Delete console_sessions
--       Bitmap Heap Scan console_sessions
--         Bitmap Index Scan console_sessions by console_sessions_by_end (expires_at)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Delete console_sessions
--       Index Scan console_sessions by console_sessions_by_end (expires_at)

-- console-sessions.takeClientLink: planned each time
prepare "console-sessions.takeClientLink" (bytea) as
  delete from client_console_links where digest = $1 returning client_key, expires_at;
--   always
--     Delete client_console_links
--       Index Scan client_console_links by client_console_links_pkey (digest)

-- console-sessions.takeLink: planned each time
prepare "console-sessions.takeLink" (bytea) as
  delete from console_links where digest = $1 returning expires_at;
--   always
--     Delete console_links
--       Index Scan console_links by console_links_pkey (digest)
