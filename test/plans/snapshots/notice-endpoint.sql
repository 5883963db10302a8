-- The statements of server/store/notice-endpoint.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- notice-endpoint.ensureInternalClient: planned each time
prepare "notice-endpoint.ensureInternalClient" (uuid, text, timestamp with time zone) as
  insert into clients (id, name, is_internal, created_at) values ($1, $2, true, $3)
  returning client_key;
--   always
--     Insert clients
--       Result

-- notice-endpoint.findInternalClient: kept as find-internal-client
prepare "notice-endpoint.findInternalClient" as
  select client_key from clients where is_internal;
--   for any values: empty, never analyzed; full, never analyzed; full, analyzed when empty
--     Bitmap Heap Scan clients
--       Bitmap Index Scan clients by one_internal_client
--   for any values: empty, analyzed; empty, analyzed when full; full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Index Scan clients by one_internal_client

-- notice-endpoint.findNoticeEndpoint: kept as find-notice-endpoint
prepare "notice-endpoint.findNoticeEndpoint" (integer) as
  select id, shard, url, status, inactive_since, shared_key from endpoints
  where client_key = $1 and kind = 'notice' and deleted_at is null;
--   always
--     Index Scan endpoints by one_notice_endpoint (client_key)

-- notice-endpoint.insertNoticeEndpoint: planned each time
prepare "notice-endpoint.insertNoticeEndpoint" (integer, uuid, smallint, text, bytea, bytea, timestamp with time zone) as
  insert into endpoints
  (client_key, id, kind, shard, url, href_hash, shared_key, created_at, changed_at)
  values ($1, $2, 'notice', $3, $4, $5, $6, $7, $7);
--   always
--     Insert endpoints
--       Result

-- notice-endpoint.moveNoticeEndpoint: planned each time
prepare "notice-endpoint.moveNoticeEndpoint" (integer, uuid, text, bytea, timestamp with time zone) as
  update endpoints set url = $3, href_hash = $4, changed_at = $5
  where client_key = $1 and id = $2;
--   always
--     Update endpoints
--       Index Scan endpoints by endpoints_by_id (id) filter (client_key)
