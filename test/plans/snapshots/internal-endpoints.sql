-- The statements of server/store/endpoints/internal-endpoints.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- internal-endpoints.ensureInternalClient: planned each time
prepare "internal-endpoints.ensureInternalClient" (uuid, text, timestamp with time zone) as
  insert into clients (id, name, is_internal, created_at) values ($1, $2, true, $3)
  returning client_key;

-- internal-endpoints.findInternalClient: kept as find-internal-client
prepare "internal-endpoints.findInternalClient" as
  select client_key from clients where is_internal;

-- internal-endpoints.findNoticeEndpoint: kept as find-notice-endpoint
prepare "internal-endpoints.findNoticeEndpoint" (integer, text, uuid) as
  select id, shard, url, status, inactive_since, shared_key from endpoints
  where client_key = $1 and kind = $2 and scope = $3 and deleted_at is null;

-- internal-endpoints.forgetNoticeEndpoint: planned each time
prepare "internal-endpoints.forgetNoticeEndpoint" (integer, uuid) as
  delete from endpoints where client_key = $1 and id = $2 and deleted_at is not null;

-- internal-endpoints.insertNoticeEndpoint: planned each time
prepare "internal-endpoints.insertNoticeEndpoint" (integer, uuid, smallint, text, bytea, bytea, timestamp with time zone, text, uuid) as
  insert into endpoints
  (client_key, id, kind, account_id, shard, url, href_hash, shared_key, created_at,
    changed_at)
  values ($1, $2, $8, $9, $3, $4, $5, $6, $7, $7);

-- internal-endpoints.moveNoticeEndpoint: planned each time
prepare "internal-endpoints.moveNoticeEndpoint" (integer, uuid, text, bytea, timestamp with time zone) as
  update endpoints set url = $3, href_hash = $4, changed_at = $5
  where client_key = $1 and id = $2;

-- internal-endpoints.readClientNoticeEndpoints: kept as read-client-notice-endpoints
prepare "internal-endpoints.readClientNoticeEndpoints" (integer) as
  select id, shard, account_id as client_id from endpoints
  where client_key = $1 and kind = 'client-notice' and deleted_at is null;
