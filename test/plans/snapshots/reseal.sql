-- What server/store/secrets/reseal.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- reseal.readEndpointsToReseal: kept as read-endpoints-to-reseal
prepare "reseal.readEndpointsToReseal" (bytea, integer, uuid, bigint) as
  select client_key, id, shared_key, previous_key, header_value, oauth2_secret from endpoints
  where (client_key, id) > ($2, $3)
  and ((shared_key is not null and substring(shared_key from 1 for 5) <> $1::bytea) or (previous_key is not null and substring(previous_key from 1 for 5) <> $1::bytea) or (header_value is not null and substring(header_value from 1 for 5) <> $1::bytea) or (oauth2_secret is not null and substring(oauth2_secret from 1 for 5) <> $1::bytea))
  order by client_key, id limit $4;

-- reseal.readPrivateKeysToReseal of client_certificates: planned each time
prepare "reseal.readPrivateKeysToReseal of client_certificates" (bytea) as
  select id::text as id, private_key from client_certificates
  where (private_key is not null and substring(private_key from 1 for 5) <> $1::bytea) order by 1;

-- reseal.readPrivateKeysToReseal of signing_keys: planned each time
prepare "reseal.readPrivateKeysToReseal of signing_keys" (bytea) as
  select kid as id, private_key from signing_keys
  where (private_key is not null and substring(private_key from 1 for 5) <> $1::bytea) order by 1;

-- reseal.readPrivateKeysToReseal of webhook_keys: planned each time
prepare "reseal.readPrivateKeysToReseal of webhook_keys" (bytea) as
  select kid as id, private_key from webhook_keys
  where (private_key is not null and substring(private_key from 1 for 5) <> $1::bytea) order by 1;

-- reseal.replaceSealedPrivateKeys of client_certificates: planned each time
prepare "reseal.replaceSealedPrivateKeys of client_certificates" (text[], bytea[], bytea[]) as
  update client_certificates k set private_key = g.private_key
  from unnest($1::text[], $2::bytea[], $3::bytea[]) as g (id, private_key, old_private_key)
  where k.id::text = g.id and k.private_key = g.old_private_key;

-- reseal.replaceSealedPrivateKeys of signing_keys: planned each time
prepare "reseal.replaceSealedPrivateKeys of signing_keys" (text[], bytea[], bytea[]) as
  update signing_keys k set private_key = g.private_key
  from unnest($1::text[], $2::bytea[], $3::bytea[]) as g (id, private_key, old_private_key)
  where k.kid = g.id and k.private_key = g.old_private_key;

-- reseal.replaceSealedPrivateKeys of webhook_keys: planned each time
prepare "reseal.replaceSealedPrivateKeys of webhook_keys" (text[], bytea[], bytea[]) as
  update webhook_keys k set private_key = g.private_key
  from unnest($1::text[], $2::bytea[], $3::bytea[]) as g (id, private_key, old_private_key)
  where k.kid = g.id and k.private_key = g.old_private_key;
