-- The statements of server/store/endpoints/receiver-checks.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- receiver-checks.beginCheck: kept as begin-check
prepare "receiver-checks.beginCheck" (integer, uuid, timestamp with time zone, timestamp with time zone, timestamp with time zone) as
  insert into receiver_checks as running (client_key, endpoint_id, started_at)
  values ($1, $2, $3)
  on conflict (client_key, endpoint_id) do update set started_at = excluded.started_at
  where running.started_at < $4 or running.started_at > $5;

-- receiver-checks.endCheck: kept as end-check
prepare "receiver-checks.endCheck" (integer, uuid, timestamp with time zone) as
  delete from receiver_checks
  where client_key = $1 and endpoint_id = $2 and started_at = $3;
