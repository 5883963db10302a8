-- What server/store/endpoints/endpoint-health.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- endpoint-health.readHealth: kept as read-health
prepare "endpoint-health.readHealth" (integer, uuid, timestamp with time zone) as
  select h.failing_since, h.last_success_at, h.last_error, h.circuit, h.next_probe_at,
  (select count(*)::int from pending_deliveries p
    where p.endpoint_id = $2 and p.client_key + 0 = $1) as pending,
  d.attempts, d.delivered, d.durations
  from (select coalesce(sum(attempts), 0)::int as attempts,
    coalesce(sum(delivered), 0)::int as delivered, array_agg(durations) as durations
    from endpoint_hours
    where client_key = $1 and endpoint_id = $2 and hour > $3) as d
  left join endpoint_health h on h.client_key = $1 and h.endpoint_id = $2;

-- endpoint-health.readShownHealth: kept as read-shown-health, hot path
prepare "endpoint-health.readShownHealth" (integer[], uuid[]) as
  select h.* from unnest((select $1::int[])::int[], $2::uuid[]) as k (client_key, id)
  cross join lateral (
    select h.endpoint_id, h.failing_since is not null as is_failing, h.last_error, h.circuit,
    h.next_probe_at
    from endpoint_health h
    where h.client_key = k.client_key and h.endpoint_id = k.id
    and (h.failing_since is not null or h.circuit <> 'CLOSED') limit 1) as h;
