-- The statements of server/store/history/job-deliveries.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- job-deliveries.addOutcome: planned each time, with enable_seqscan = on
prepare "job-deliveries.addOutcome" (integer[], uuid[]) as
  select count(*)::int as pending,
  (count(*) filter (where p.run_attempts = 0 and e.status = 'ACTIVE'
      and coalesce(h.circuit, 'CLOSED') = 'CLOSED'))::int as moving
  from unnest($1::int[], $2::uuid[]) as k (client_key, id)
  cross join lateral (
    select p.endpoint_id, p.run_attempts from pending_deliveries p
    where p.client_key = k.client_key and p.id = k.id limit 1) as p
  join endpoints e on e.client_key = k.client_key and e.id = p.endpoint_id
  left join endpoint_health h
  on h.client_key = k.client_key and h.endpoint_id = p.endpoint_id;

-- job-deliveries.addOutcome 2: planned each time, with enable_seqscan = on
prepare "job-deliveries.addOutcome 2" (integer[], uuid[]) as
  select f.state, count(*)::int as count
  from unnest($1::int[], $2::uuid[]) as k (client_key, id)
  cross join lateral (
    select f.state from final_deliveries f
    where f.client_key = k.client_key and f.id = k.id
    and f.finished_at >= timestamptz '2026-03-10T12:00:00.000Z' limit 1) as f
  group by 1;

-- job-deliveries.countJobEndpoints: planned each time
prepare "job-deliveries.countJobEndpoints" (uuid) as
  select client_key, endpoint_id, count(*)::int as count from job_deliveries
  where job_id = $1 group by 1, 2;

-- job-deliveries.nameEndpoints: planned each time
prepare "job-deliveries.nameEndpoints" (integer[], uuid[], integer[]) as
  select e.id, e.url, c.id as client_id, c.name as client_name,
  case when e.deleted_at is null then e.status else 'DELETED' end as status, h.circuit,
  k.count
  from unnest($1::int[], $2::uuid[], $3::int[]) with ordinality
  as k (client_key, endpoint_id, count, number)
  join endpoints e on e.client_key = k.client_key and e.id = k.endpoint_id
  join clients c on c.client_key = k.client_key
  left join endpoint_health h
  on h.client_key = k.client_key and h.endpoint_id = k.endpoint_id
  order by k.number;

-- job-deliveries.readJobDeliveries: planned each time, with enable_seqscan = on
prepare "job-deliveries.readJobDeliveries" (uuid, uuid, bigint) as
  select client_key, delivery_id from job_deliveries
  where job_id = $1 and ($2::uuid is null or delivery_id < $2)
  order by delivery_id desc limit $3;
