-- What server/store/endpoints/recent-failures.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- recent-failures.readFailureReasons: planned each time
prepare "recent-failures.readFailureReasons" (integer, uuid, bigint) as
  select a.outcome, a.status, count(*)::int as count
  from (select p.client_key, p.id from pending_deliveries p
    where p.endpoint_id = $2 and p.client_key + 0 = $1 and p.attempts > 0 limit $3) as p
  cross join lateral (
    select a.outcome, a.status from earlier_attempts a
    where a.client_key = p.client_key and a.delivery_id = p.id
    and a.at >= timestamptz '2026-03-10T11:00:00.000Z' limit 100) as a
  group by 1, 2 order by 3 desc limit 20;
