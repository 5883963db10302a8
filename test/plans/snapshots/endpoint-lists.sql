-- What server/store/endpoints/endpoint-lists.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- endpoint-lists.findAnyEndpoint: kept as find-any-endpoint
prepare "endpoint-lists.findAnyEndpoint" (uuid) as
  select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
  e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret, (select a.name from accounts a
    where a.client_key = e.client_key and a.id = e.account_id) as account_name from endpoints e join clients c on c.client_key = e.client_key
  where e.id = $1 and not c.is_internal limit 1;

-- endpoint-lists.readHealthOf: kept as read-health-of-endpoints
prepare "endpoint-lists.readHealthOf" (integer[], uuid[], timestamp with time zone, bigint) as
  select k.endpoint_id, h.failing_since, h.last_success_at, h.last_error, h.circuit,
  h.next_probe_at,
  (select count(*)::int from (
      select from pending_deliveries p
      where p.endpoint_id = k.endpoint_id and p.client_key + 0 = k.client_key limit $4) as owed) as pending,
  d.attempts, d.delivered, d.durations
  from unnest($1::int[], $2::uuid[]) as k (client_key, endpoint_id)
  cross join lateral (
    select coalesce(sum(attempts), 0)::int as attempts,
    coalesce(sum(delivered), 0)::int as delivered, array_agg(durations) as durations
    from endpoint_hours o
    where o.client_key = k.client_key and o.endpoint_id = k.endpoint_id and o.hour > $3) as d
  left join endpoint_health h
  on h.client_key = k.client_key and h.endpoint_id = k.endpoint_id;

-- endpoint-lists.readTroubled: kept as read-troubled-endpoints
prepare "endpoint-lists.readTroubled" (bigint, bigint) as
  with failing as (
    select h.client_key, h.endpoint_id from endpoint_health h
    join endpoints e on e.client_key = h.client_key and e.id = h.endpoint_id
    where h.failing_since is not null and e.deleted_at is null and e.kind not in ('notice', 'client-notice')
    order by h.failing_since limit $1
  ), disabled as (
    select e.client_key, e.id as endpoint_id from endpoints e
    where e.status = 'DISABLED' and e.deleted_at is null and e.kind not in ('notice', 'client-notice')
    order by e.client_key, e.id limit $1
  )
  select e.id, c.id as client_id, c.name as client_name, e.url, e.status, h.circuit, h.next_probe_at,
  h.failing_since, h.last_error,
  (select count(*)::int from (
      select from pending_deliveries p
      where p.endpoint_id = e.id and p.client_key + 0 = e.client_key limit $2) as owed) as pending
  from (select * from failing union select * from disabled) as t
  join endpoints e on e.client_key = t.client_key and e.id = t.endpoint_id
  join clients c on c.client_key = e.client_key
  left join endpoint_health h
  on h.client_key = e.client_key and h.endpoint_id = e.id
  order by h.failing_since nulls last, e.id limit $1;
