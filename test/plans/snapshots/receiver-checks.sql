-- The statements of server/store/endpoints/receiver-checks.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- receiver-checks.beginCheck: kept as begin-check
prepare "receiver-checks.beginCheck" (integer, uuid, timestamp with time zone, timestamp with time zone, timestamp with time zone) as
  insert into receiver_checks as running (client_key, endpoint_id, started_at)
  values ($1, $2, $3)
  on conflict (client_key, endpoint_id) do update set started_at = excluded.started_at
  where running.started_at < $4 or running.started_at > $5;
--   always
--     Insert receiver_checks
--       Result

-- receiver-checks.endCheck: kept as end-check
prepare "receiver-checks.endCheck" (integer, uuid, timestamp with time zone) as
  delete from receiver_checks
  where client_key = $1 and endpoint_id = $2 and started_at = $3;
--   always
--     Delete receiver_checks
--       Index Scan receiver_checks by receiver_checks_pkey (client_key, endpoint_id) filter (started_at)
