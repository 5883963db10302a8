-- What server/store/history/job-deliveries.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- job-deliveries.addOutcome 2: planned each time, with enable_seqscan = on
prepare "job-deliveries.addOutcome 2" (integer[], uuid[]) as
  select f.state, count(*)::int as count
  from unnest($1::int[], $2::uuid[]) as k (client_key, id)
  cross join lateral (
    select f.state from final_deliveries f
    where f.client_key = k.client_key and f.id = k.id
    and f.finished_at >= timestamptz '2026-03-10T12:00:00.000Z' limit 1) as f
  group by 1;
