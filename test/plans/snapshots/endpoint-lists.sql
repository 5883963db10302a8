-- The statements of server/store/endpoints/endpoint-lists.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- endpoint-lists.findAnyEndpoint: kept as find-any-endpoint
prepare "endpoint-lists.findAnyEndpoint" (uuid) as
  select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
  e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret, (select a.name from accounts a
    where a.client_key = e.client_key and a.id = e.account_id) as account_name from endpoints e join clients c on c.client_key = e.client_key
  where e.id = $1 and not c.is_internal limit 1;

-- Alike: by an id; by words; in a status; of a kind; of all
-- endpoint-lists.listAllEndpoints by address: planned each time
prepare "endpoint-lists.listAllEndpoints by address" (bigint, bigint) as
  with matching as not materialized (
    select e.client_key, e.id, e.created_at, e.url from endpoints e
    where e.deleted_at is null and e.created_at > '-infinity' and e.client_key not in (select client_key from clients where is_internal))
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret
    from (select * from matching
      order by url collate "C", id limit $1 offset $2) as m
    join endpoints e on e.client_key = m.client_key and e.id = m.id
    join clients c on c.client_key = e.client_key) as shown on true
  order by url collate "C", id;

-- Alike: not failing
-- endpoint-lists.listAllEndpoints failing: planned each time
prepare "endpoint-lists.listAllEndpoints failing" (bigint, bigint) as
  with matching as not materialized (
    select e.client_key, e.id, e.created_at, e.url from endpoints e
    where e.deleted_at is null and e.created_at > '-infinity' and e.client_key not in (select client_key from clients where is_internal) and exists (select from endpoint_health h where h.client_key = e.client_key
      and h.endpoint_id = e.id and h.failing_since is not null))
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret
    from (select * from matching
      order by created_at, id limit $1 offset $2) as m
    join endpoints e on e.client_key = m.client_key and e.id = m.id
    join clients c on c.client_key = e.client_key) as shown on true
  order by created_at, id;

-- endpoint-lists.listAllEndpoints failing, the longest first: planned each time
prepare "endpoint-lists.listAllEndpoints failing, the longest first" (bigint, bigint) as
  with matching as not materialized (
    select e.client_key, e.id, e.created_at, e.url, h.failing_since from endpoints e left join endpoint_health h on h.client_key = e.client_key and h.endpoint_id = e.id
    where e.deleted_at is null and e.created_at > '-infinity' and e.client_key not in (select client_key from clients where is_internal) and exists (select from endpoint_health h where h.client_key = e.client_key
      and h.endpoint_id = e.id and h.failing_since is not null))
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret, m.failing_since
    from (select * from (
        (select * from matching where failing_since is not null order by failing_since, id limit $1::bigint + $2::bigint)
        union all
        (select * from matching where failing_since is null order by id limit $1::bigint + $2::bigint)) as m
      order by failing_since, id limit $1 offset $2) as m
    join endpoints e on e.client_key = m.client_key and e.id = m.id
    join clients c on c.client_key = e.client_key) as shown on true
  order by failing_since, id;

-- endpoint-lists.listAllEndpoints of a client: planned each time
prepare "endpoint-lists.listAllEndpoints of a client" (bigint, bigint, uuid) as
  with matching as not materialized (
    select e.client_key, e.id, e.created_at, e.url from endpoints e
    where e.deleted_at is null and e.created_at > '-infinity' and e.client_key not in (select client_key from clients where is_internal) and e.client_key = (select client_key from clients where id = $3))
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret
    from (select * from matching
      order by created_at, id limit $1 offset $2) as m
    join endpoints e on e.client_key = m.client_key and e.id = m.id
    join clients c on c.client_key = e.client_key) as shown on true
  order by created_at, id;

-- endpoint-lists.listAllEndpoints of an account: planned each time
prepare "endpoint-lists.listAllEndpoints of an account" (bigint, bigint, uuid) as
  with matching as not materialized (
    select e.client_key, e.id, e.created_at, e.url from endpoints e
    where e.deleted_at is null and e.created_at > '-infinity' and e.client_key not in (select client_key from clients where is_internal) and e.client_key = (select client_key from accounts where id = $3)
    and e.scope = $3 and e.account_id = $3)
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret
    from (select * from matching
      order by created_at, id limit $1 offset $2) as m
    join endpoints e on e.client_key = m.client_key and e.id = m.id
    join clients c on c.client_key = e.client_key) as shown on true
  order by created_at, id;

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
