-- The statements of server/store/endpoints/notice-endpoint.ts and their plans, without costs. Written by `npm run plans`;
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
prepare "notice-endpoint.findNoticeEndpoint" (integer, text, uuid) as
  select id, shard, url, status, inactive_since, shared_key from endpoints
  where client_key = $1 and kind = $2 and scope = $3 and deleted_at is null;
--   for any values: empty, never analyzed; empty, analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Index Scan endpoints by one_endpoint_per_address (client_key, scope) filter (kind)
--   for values given: full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Index Scan endpoints by one_notice_endpoint (client_key) filter (scope)

-- notice-endpoint.forgetNoticeEndpoint: planned each time
prepare "notice-endpoint.forgetNoticeEndpoint" (integer, uuid) as
  delete from endpoints where client_key = $1 and id = $2 and deleted_at is not null;
--   always
--     Delete endpoints
--       Index Scan endpoints by endpoints_by_id (id) filter (deleted_at, client_key)

-- notice-endpoint.insertNoticeEndpoint: planned each time
prepare "notice-endpoint.insertNoticeEndpoint" (integer, uuid, smallint, text, bytea, bytea, timestamp with time zone, text, uuid) as
  insert into endpoints
  (client_key, id, kind, account_id, shard, url, href_hash, shared_key, created_at,
    changed_at)
  values ($1, $2, $8, $9, $3, $4, $5, $6, $7, $7);
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

-- notice-endpoint.readClientNoticeEndpoints: kept as read-client-notice-endpoints
prepare "notice-endpoint.readClientNoticeEndpoints" (integer) as
  select id, shard, account_id as client_id from endpoints
  where client_key = $1 and kind = 'client-notice' and deleted_at is null;
--   always
--     Index Scan endpoints by one_client_notice_endpoint (client_key)
