-- The statements of server/store/secrets/client-keys.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- client-keys.deleteClientKey: planned each time
prepare "client-keys.deleteClientKey" (integer, text) as
  delete from client_keys where client_key = $1 and kid = $2;

-- client-keys.deleteOldAssertions: planned each time
prepare "client-keys.deleteOldAssertions" (timestamp with time zone) as
  delete from used_assertions where expires_at < $1;

-- client-keys.insertClientKey: planned each time
prepare "client-keys.insertClientKey" (integer, text, jsonb, timestamp with time zone, bytea) as
  insert into client_keys (client_key, kid, public_jwk, created_at, authentication)
  values ($1, $2, $3, $4, $5);

-- client-keys.listClientKeys: kept as list-client-keys
prepare "client-keys.listClientKeys" (integer) as
  select kid, public_jwk, created_at, authentication from client_keys
  where client_key = $1 order by created_at, kid;

-- client-keys.readForeignClientKeys: planned each time
prepare "client-keys.readForeignClientKeys" (text, integer, text, bigint) as
  select k.client_key, c.id as client_id, k.kid, k.public_jwk, k.created_at, k.authentication
  from client_keys k join clients c using (client_key)
  where (k.client_key, k.kid) > ($2, $3)
  and substring(k.authentication from 1 for 4) <> decode($1, 'hex')
  order by k.client_key, k.kid limit $4;

-- client-keys.readKeysOfClient: kept as read-keys-of-client
prepare "client-keys.readKeysOfClient" (uuid) as
  select c.client_key, c.status, k.kid, k.public_jwk, k.created_at, k.authentication
  from clients c left join client_keys k on k.client_key = c.client_key
  where c.id = $1 and not c.is_internal order by k.created_at, k.kid;

-- client-keys.replaceClientKeyAuthentications: planned each time
prepare "client-keys.replaceClientKeyAuthentications" (integer[], text[], bytea[], bytea[]) as
  update client_keys k set authentication = g.authentication
  from unnest($1::int[], $2::text[], $3::bytea[], $4::bytea[])
  as g (client_key, kid, authentication, old_authentication)
  where k.client_key = g.client_key and k.kid = g.kid
  and k.authentication = g.old_authentication;

-- client-keys.useAssertion: kept as use-assertion
prepare "client-keys.useAssertion" (integer, bytea, timestamp with time zone) as
  insert into used_assertions (client_key, jti_digest, expires_at) values ($1, $2, $3)
  on conflict do nothing;
