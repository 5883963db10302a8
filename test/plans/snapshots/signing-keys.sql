-- What server/store/secrets/signing-keys.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- signing-keys.deleteSigningKey of signing_keys: planned each time
prepare "signing-keys.deleteSigningKey of signing_keys" (text) as
  delete from signing_keys where kid = $1;

-- signing-keys.deleteSigningKey of webhook_keys: planned each time
prepare "signing-keys.deleteSigningKey of webhook_keys" (text) as
  delete from webhook_keys where kid = $1;

-- signing-keys.insertSigningKey of signing_keys: planned each time
prepare "signing-keys.insertSigningKey of signing_keys" (text, jsonb, bytea, timestamp with time zone, bytea) as
  insert into signing_keys (kid, public_jwk, private_key, created_at, authentication)
  values ($1, $2, $3, $4, $5);

-- signing-keys.insertSigningKey of webhook_keys: planned each time
prepare "signing-keys.insertSigningKey of webhook_keys" (text, jsonb, bytea, timestamp with time zone, bytea) as
  insert into webhook_keys (kid, public_jwk, private_key, created_at, authentication)
  values ($1, $2, $3, $4, $5);

-- signing-keys.readSigningKeys of signing_keys: kept as read-signing_keys
prepare "signing-keys.readSigningKeys of signing_keys" as
  select kid, public_jwk, private_key, created_at, verifies_until, authentication
  from signing_keys order by created_at desc, kid desc limit 1000;

-- signing-keys.readSigningKeys of webhook_keys: kept as read-webhook_keys
prepare "signing-keys.readSigningKeys of webhook_keys" as
  select kid, public_jwk, private_key, created_at, verifies_until, authentication
  from webhook_keys order by created_at desc, kid desc limit 1000;

-- signing-keys.replaceAuthentications of signing_keys: planned each time
prepare "signing-keys.replaceAuthentications of signing_keys" (text[], bytea[], bytea[]) as
  update signing_keys k set authentication = g.authentication
  from unnest($1::text[], $2::bytea[], $3::bytea[])
  as g (kid, authentication, old_authentication)
  where k.kid = g.kid and k.authentication is not distinct from g.old_authentication;

-- signing-keys.replaceAuthentications of webhook_keys: planned each time
prepare "signing-keys.replaceAuthentications of webhook_keys" (text[], bytea[], bytea[]) as
  update webhook_keys k set authentication = g.authentication
  from unnest($1::text[], $2::bytea[], $3::bytea[])
  as g (kid, authentication, old_authentication)
  where k.kid = g.kid and k.authentication is not distinct from g.old_authentication;

-- signing-keys.retireSigningKeys of signing_keys: planned each time
prepare "signing-keys.retireSigningKeys of signing_keys" (timestamp with time zone) as
  update signing_keys set verifies_until = $1 where verifies_until is null;

-- signing-keys.retireSigningKeys of webhook_keys: planned each time
prepare "signing-keys.retireSigningKeys of webhook_keys" (timestamp with time zone) as
  update webhook_keys set verifies_until = $1 where verifies_until is null;
