-- What server/store/history/health-counts.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- health-counts.countAllEndpointsByHealth: kept as count-endpoints-by-status, with enable_seqscan = on
prepare "health-counts.countAllEndpointsByHealth" as
  select e.status, count(*)::int as count from endpoints e where e.deleted_at is null and e.kind not in ('notice', 'client-notice') group by 1;

-- health-counts.countAllEndpointsByHealth 2: kept as count-failing-endpoints, with enable_seqscan = on
prepare "health-counts.countAllEndpointsByHealth 2" as
  select count(*)::int as count from endpoint_health h
  join endpoints e on e.client_key = h.client_key and e.id = h.endpoint_id
  where h.failing_since is not null and e.status = 'ACTIVE' and e.deleted_at is null and e.kind not in ('notice', 'client-notice');

-- health-counts.countEndpointsByHealth: kept as count-endpoints-by-health
prepare "health-counts.countEndpointsByHealth" (integer) as
  select e.status, h.failing_since is not null as is_failing, count(*)::int as count
  from endpoints e
  left join endpoint_health h on h.client_key = e.client_key and h.endpoint_id = e.id
  where e.client_key = $1 and e.deleted_at is null and e.kind not in ('notice', 'client-notice')
  group by 1, 2;
