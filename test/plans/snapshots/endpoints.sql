-- What server/store/endpoints/endpoints.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- endpoints.findByAddress: kept as find-endpoint-by-address
prepare "endpoints.findByAddress" (integer, uuid, bytea) as
  select counted.count, same.*
  from (select count(*) as count from endpoints
    where client_key = $1 and scope = $2 and deleted_at is null) as counted
  left join (select id, shard, shared_key, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret from endpoints
    where client_key = $1 and scope = $2 and href_hash = $3
    and deleted_at is null) as same on true;

-- endpoints.findEndpoint: planned each time
prepare "endpoints.findEndpoint" (integer, text, uuid, uuid) as
  select id, kind, account_id, shard, url, status, inactive_since, created_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret from endpoints
  where client_key = $1 and kind = $2 and id = $4
  and ($3::uuid is null or account_id = $3) and deleted_at is null;

-- endpoints.insertEndpoint: kept as insert-endpoint
prepare "endpoints.insertEndpoint" (integer, uuid, text, uuid, smallint, text, bytea, bytea, text, bytea, timestamp with time zone, text[], text, text, text[], text, text, text, text[], jsonb, bytea) as
  insert into endpoints
  (client_key, id, kind, account_id, shard, url, href_hash, shared_key, header_name,
    header_value, created_at, changed_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13, $14, $15, $16, $17,
    $18, $19, $20, $21);

-- endpoints.listEndpoints: kept as list-endpoints
prepare "endpoints.listEndpoints" (integer[], text[], uuid[], integer[], bigint[]) as
  select q.number::int, found.*
  from unnest((select $1::int[])::int[], $2::text[], $3::uuid[], $4::int[], $5::bigint[])
  with ordinality as q (client_key, kind, account_id, size, skipped, number)
  cross join lateral (
    with matching as materialized (
      select id, kind, account_id, shard, url, status, inactive_since, created_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret from endpoints
      where q.account_id is not null and client_key = q.client_key and scope = q.account_id
      and kind = q.kind and deleted_at is null
      union all
      select id, kind, account_id, shard, url, status, inactive_since, created_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret from endpoints
      where q.account_id is null and client_key = q.client_key
      and kind = q.kind and deleted_at is null
    )
    select all_of_them.total, shown.*
    from (select count(*) as total from matching) as all_of_them
    left join (
      select * from matching order by created_at, id limit q.size offset q.skipped) as shown
    on true) as found
  order by q.number, found.created_at, found.id;

-- endpoints.lockEndpoint: planned each time
prepare "endpoints.lockEndpoint" (integer, text, uuid, uuid) as
  select id, kind, account_id, shard, url, status, inactive_since, created_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret, header_name from endpoints
  where client_key = $1 and kind = $2 and id = $4
  and ($3::uuid is null or account_id = $3) and deleted_at is null
  for no key update;

-- endpoints.readEndpointsOfAccount: kept as read-endpoints-of-account
prepare "endpoints.readEndpointsOfAccount" (integer, uuid, uuid, bigint) as
  select id, kind, account_id, shard, url, status, inactive_since, created_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret from endpoints
  where client_key = $1 and scope in ($2, $3) and deleted_at is null and kind <> 'notice'
  order by created_at, id limit $4;

-- endpoints.replaceSettings: planned each time
prepare "endpoints.replaceSettings" (integer, uuid, timestamp with time zone, text[], text, text, text[], text, text, text, text[], jsonb, bytea) as
  update endpoints set (events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret) = ($4, $5, $6, $7, $8, $9, $10, $11, $12, $13),
  changed_at = $3
  where client_key = $1 and id = $2;
