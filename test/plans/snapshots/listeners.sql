-- The statements of server/store/endpoints/listeners.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- listeners.dropDeletedListeners: planned each time
prepare "listeners.dropDeletedListeners" as
  delete from listeners l using endpoints e
  where l.last_polled_at > '-infinity' and e.client_key = l.client_key and e.id = l.endpoint_id
  and e.deleted_at is not null;

-- listeners.insertListener: planned each time
prepare "listeners.insertListener" (integer, uuid, timestamp with time zone) as
  insert into listeners (client_key, endpoint_id, last_polled_at) values ($1, $2, $3);

-- listeners.markSilent: planned each time
prepare "listeners.markSilent" (integer, uuid, timestamp with time zone) as
  update listeners set is_listening = false
  where client_key = $1 and endpoint_id = $2 and is_listening and last_polled_at <= $3;

-- listeners.readForgottenListeners: planned each time
prepare "listeners.readForgottenListeners" (timestamp with time zone, bigint) as
  select l.client_key, l.endpoint_id from listeners l
  join endpoints e on e.client_key = l.client_key and e.id = l.endpoint_id
  where l.last_polled_at <= $1 and e.deleted_at is null
  order by l.last_polled_at limit $2;

-- listeners.readSilentListeners: kept as read-silent-listeners
prepare "listeners.readSilentListeners" (timestamp with time zone, bigint) as
  select client_key, endpoint_id from listeners
  where last_polled_at <= $1 and is_listening order by last_polled_at limit $2;

-- listeners.touchListener: kept as touch-listener
prepare "listeners.touchListener" (integer, uuid, timestamp with time zone, timestamp with time zone) as
  update listeners set last_polled_at = $3, is_listening = true
  where client_key = $1 and endpoint_id = $2 and (not is_listening or last_polled_at <= $4);
