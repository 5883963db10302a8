-- The statements of server/store/signing-keys.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- signing-keys.insertSigningKey of signing_keys: planned each time
prepare "signing-keys.insertSigningKey of signing_keys" (text, jsonb, bytea, timestamp with time zone) as
  insert into signing_keys (kid, public_jwk, private_key, created_at)
  values ($1, $2, $3, $4);
--   always
--     Insert signing_keys
--       Result

-- signing-keys.insertSigningKey of webhook_keys: planned each time
prepare "signing-keys.insertSigningKey of webhook_keys" (text, jsonb, bytea, timestamp with time zone) as
  insert into webhook_keys (kid, public_jwk, private_key, created_at)
  values ($1, $2, $3, $4);
--   always
--     Insert webhook_keys
--       Result

-- signing-keys.isSigningKeyOlder of signing_keys: planned each time
prepare "signing-keys.isSigningKeyOlder of signing_keys" (timestamp with time zone) as
  select max(created_at) < $1 as is_older from signing_keys where verifies_until is null;
--   always
--     Aggregate
--       Seq Scan signing_keys filter (verifies_until)

-- signing-keys.isSigningKeyOlder of webhook_keys: planned each time
prepare "signing-keys.isSigningKeyOlder of webhook_keys" (timestamp with time zone) as
  select max(created_at) < $1 as is_older from webhook_keys where verifies_until is null;
--   always
--     Aggregate
--       Seq Scan webhook_keys filter (verifies_until)

-- signing-keys.readSigningKeys of signing_keys: kept as read-signing_keys
prepare "signing-keys.readSigningKeys of signing_keys" (timestamp with time zone) as
  select kid, public_jwk, private_key, created_at, verifies_until from signing_keys
  where verifies_until is null or verifies_until > $1
  order by created_at desc, kid desc;
--   always
--     Sort on created_at DESC, kid DESC
--       Seq Scan signing_keys filter (verifies_until)

-- signing-keys.readSigningKeys of webhook_keys: kept as read-webhook_keys
prepare "signing-keys.readSigningKeys of webhook_keys" (timestamp with time zone) as
  select kid, public_jwk, private_key, created_at, verifies_until from webhook_keys
  where verifies_until is null or verifies_until > $1
  order by created_at desc, kid desc;
--   always
--     Sort on created_at DESC, kid DESC
--       Seq Scan webhook_keys filter (verifies_until)

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
