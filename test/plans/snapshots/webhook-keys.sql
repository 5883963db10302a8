-- The statements of server/store/webhook-keys.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- webhook-keys.forgetRetiredPrivateKeys: planned each time
prepare "webhook-keys.forgetRetiredPrivateKeys" (timestamp with time zone) as
  update webhook_keys set private_key = null
  where verifies_until <= $1 and private_key is not null;
--   always
--     Update webhook_keys
--       Seq Scan webhook_keys filter (private_key, verifies_until)

-- webhook-keys.readRetiredWebhookKeys: kept as read-retired-webhook-keys
prepare "webhook-keys.readRetiredWebhookKeys" (timestamp with time zone, bigint) as
  select public_jwk, verifies_until from webhook_keys where verifies_until <= $1
  order by created_at desc, kid desc limit $2;
--   always
--     Limit
--       Sort on created_at DESC, kid DESC
--         Seq Scan webhook_keys filter (verifies_until)

-- webhook-keys.readWebhookKeySet: planned each time
prepare "webhook-keys.readWebhookKeySet" as
  select kid, public_jwk from webhook_keys order by created_at desc limit 1000;
--   always
--     Limit
--       Sort on created_at DESC
--         Seq Scan webhook_keys
