-- What server/store/owed/sending-endpoints.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- sending-endpoints.readSendingEndpoints: kept as read-sending-endpoints, hot path
prepare "sending-endpoints.readSendingEndpoints" (integer[], uuid[]) as
  select e.* from unnest((select $1::int[])::int[], $2::uuid[]) as k (client_key, id)
  cross join lateral (
    select client_key, id, shard, url, status, deleted_at, shared_key, previous_key,
    previous_key_until, header_name, header_value, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret from endpoints e
    where e.client_key = k.client_key and e.id = k.id limit 1) as e;
