-- The statements of server/store/secrets/signing-keys.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- signing-keys.forgetRetiredPrivateKeys: planned each time
prepare "signing-keys.forgetRetiredPrivateKeys" (timestamp with time zone) as
  update webhook_keys set private_key = null
  where verifies_until <= $1 and private_key is not null and authentication is not null;
--   always
--     Update webhook_keys
--       Seq Scan webhook_keys filter (private_key, authentication, verifies_until)

-- signing-keys.insertSigningKey of signing_keys: planned each time
prepare "signing-keys.insertSigningKey of signing_keys" (text, jsonb, bytea, timestamp with time zone, bytea) as
  insert into signing_keys (kid, public_jwk, private_key, created_at, authentication)
  values ($1, $2, $3, $4, $5);
--   always
--     Insert signing_keys
--       Result

-- signing-keys.insertSigningKey of webhook_keys: planned each time
prepare "signing-keys.insertSigningKey of webhook_keys" (text, jsonb, bytea, timestamp with time zone, bytea) as
  insert into webhook_keys (kid, public_jwk, private_key, created_at, authentication)
  values ($1, $2, $3, $4, $5);
--   always
--     Insert webhook_keys
--       Result

-- signing-keys.readSigningKeys of signing_keys: kept as read-signing_keys
prepare "signing-keys.readSigningKeys of signing_keys" as
  select kid, public_jwk, private_key, created_at, verifies_until, authentication
  from signing_keys order by created_at desc, kid desc limit 1000;
--   always
--     Limit
--       Sort on created_at DESC, kid DESC
--         Seq Scan signing_keys

-- signing-keys.readSigningKeys of webhook_keys: kept as read-webhook_keys
prepare "signing-keys.readSigningKeys of webhook_keys" as
  select kid, public_jwk, private_key, created_at, verifies_until, authentication
  from webhook_keys order by created_at desc, kid desc limit 1000;
--   always
--     Limit
--       Sort on created_at DESC, kid DESC
--         Seq Scan webhook_keys

-- signing-keys.replaceAuthentications of signing_keys: planned each time
prepare "signing-keys.replaceAuthentications of signing_keys" (text[], bytea[], bytea[]) as
  update signing_keys k set authentication = g.authentication
  from unnest($1::text[], $2::bytea[], $3::bytea[])
  as g (kid, authentication, old_authentication)
  where k.kid = g.kid and k.authentication is not distinct from g.old_authentication;
--   always
--     Update signing_keys
--       Nested Loop
--         Function Scan
--         Index Scan signing_keys by signing_keys_pkey (kid) filter (authentication)

-- signing-keys.replaceAuthentications of webhook_keys: planned each time
prepare "signing-keys.replaceAuthentications of webhook_keys" (text[], bytea[], bytea[]) as
  update webhook_keys k set authentication = g.authentication
  from unnest($1::text[], $2::bytea[], $3::bytea[])
  as g (kid, authentication, old_authentication)
  where k.kid = g.kid and k.authentication is not distinct from g.old_authentication;
--   always
--     Update webhook_keys
--       Nested Loop
--         Function Scan
--         Index Scan webhook_keys by webhook_keys_pkey (kid) filter (authentication)

-- signing-keys.retireSigningKeys of signing_keys: planned each time
prepare "signing-keys.retireSigningKeys of signing_keys" (timestamp with time zone) as
  update signing_keys set verifies_until = $1 where verifies_until is null;
--   always
--     Update signing_keys
--       Seq Scan signing_keys filter (verifies_until)

-- signing-keys.retireSigningKeys of webhook_keys: planned each time
prepare "signing-keys.retireSigningKeys of webhook_keys" (timestamp with time zone) as
  update webhook_keys set verifies_until = $1 where verifies_until is null;
--   always
--     Update webhook_keys
--       Seq Scan webhook_keys filter (verifies_until)
