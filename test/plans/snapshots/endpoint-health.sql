-- The statements of server/store/endpoints/endpoint-health.ts, written by `npm run plans`. To paste into psql, after:
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

-- endpoint-health.saveHealth: kept as save-health, hot path
prepare "endpoint-health.saveHealth" (integer[], uuid[], timestamp with time zone[], timestamp with time zone[], timestamp with time zone[], text[], text[], timestamp with time zone[], timestamp with time zone) as
  insert into endpoint_health as h
  (client_key, endpoint_id, failing_since, last_success_at, last_failure_at, last_error,
    circuit, next_probe_at)
  select * from unnest($1::int[], $2::uuid[], $3::timestamptz[], $4::timestamptz[],
    $5::timestamptz[], $6::text[], $7::text[], $8::timestamptz[])
  on conflict (client_key, endpoint_id) do update set
  -- After a success in between the count starts again; without one the older beginning stays.
  failing_since = case when excluded.failing_since is null then null
  when excluded.last_success_at is not null then excluded.failing_since
  else coalesce(h.failing_since, excluded.failing_since) end,
  last_success_at = coalesce(excluded.last_success_at, h.last_success_at),
  last_failure_at = coalesce(excluded.last_failure_at, h.last_failure_at),
  last_error = coalesce(excluded.last_error, h.last_error),
  circuit = excluded.circuit, next_probe_at = excluded.next_probe_at
  -- Not failures of a former owner of the shard, written after a success that its next one has seen: an
  -- endpoint with nothing more to receive would be shown as failing for ever, and be disabled. A success
  -- is always heeded: where that is wrong, the next attempt shows it.
  where (excluded.failing_since is not null
    and h.last_success_at > excluded.last_failure_at and h.last_success_at < $9) is not true;

-- endpoint-health.saveHealth 2: kept as save-endpoint-hours, hot path
prepare "endpoint-health.saveHealth 2" (integer[], uuid[], integer[], integer[], text[], timestamp with time zone) as
  insert into endpoint_hours as h
  (client_key, endpoint_id, hour, attempts, delivered, durations)
  select client_key, endpoint_id, date_trunc('hour', $6::timestamptz), attempts, delivered,
  durations::int[]
  from unnest($1::int[], $2::uuid[], $3::int[], $4::int[], $5::text[])
  as d (client_key, endpoint_id, attempts, delivered, durations)
  on conflict (client_key, endpoint_id, hour) do update set
  attempts = h.attempts + excluded.attempts,
  delivered = h.delivered + excluded.delivered,
  durations = (select array_agg(a + b order by i)
    from unnest(h.durations, excluded.durations) with ordinality as s (a, b, i));
