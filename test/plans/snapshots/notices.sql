-- What server/store/endpoints/notices.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- notices.countExhausted: kept as read-exhausted-until-for-operator
prepare "notices.countExhausted" (timestamp with time zone) as
  select exhausted_until as after from notice_progress where exhausted_until < $1;

-- notices.countExhausted 2: planned each time
prepare "notices.countExhausted 2" (integer, timestamp with time zone) as
  with span as (
    select exhausted_until as after,
    least($2::timestamptz, exhausted_until + interval '1 hour') as until
    from notice_progress where exhausted_until < $2
  ), counted as (
    select f.client_key, f.endpoint_id, count(*)::int as count
    from span join final_deliveries f
    on f.finished_at > span.after and f.finished_at <= span.until and f.finished_at >= timestamptz '2026-03-10T09:59:59.000Z' and f.finished_at < timestamptz '2026-03-10T11:00:01.001Z'
    where f.state = 'EXHAUSTED' and f.client_key <> $1
    group by f.client_key, f.endpoint_id
  ), added as (
    insert into endpoint_notices as n
    (client_key, endpoint_id, exhausted_total, exhausted_untold)
    select client_key, endpoint_id, count, count from counted where (select count(*) from feed_origin) >= 0
    on conflict (client_key, endpoint_id) do update set
    exhausted_total = n.exhausted_total + excluded.exhausted_total,
    exhausted_untold = n.exhausted_untold + excluded.exhausted_untold
  )
  update notice_progress p set exhausted_until = span.until from span;

-- notices.countExhausted for clients: kept as read-exhausted-until-for-client
prepare "notices.countExhausted for clients" (timestamp with time zone) as
  select exhausted_until as after from client_notice_progress where exhausted_until < $1;

-- notices.countExhausted for clients 2: planned each time
prepare "notices.countExhausted for clients 2" (integer, timestamp with time zone) as
  with span as (
    select exhausted_until as after,
    least($2::timestamptz, exhausted_until + interval '1 hour') as until
    from client_notice_progress where exhausted_until < $2
  ), counted as (
    select f.client_key, f.endpoint_id, count(*)::int as count
    from span join final_deliveries f
    on f.finished_at > span.after and f.finished_at <= span.until and f.finished_at < timestamptz '1970-01-01T01:00:01.001Z'
    where f.state = 'EXHAUSTED' and f.client_key in (
      select c.client_key from endpoints t join clients c on c.id = t.scope
      where t.client_key = $1 and t.kind = 'client-notice' and t.deleted_at is null)
    group by f.client_key, f.endpoint_id
  ), added as (
    insert into client_endpoint_notices as n
    (client_key, endpoint_id, exhausted_total, exhausted_untold)
    select client_key, endpoint_id, count, count from counted where (select count(*) from feed_origin) >= 0
    on conflict (client_key, endpoint_id) do update set
    exhausted_total = n.exhausted_total + excluded.exhausted_total,
    exhausted_untold = n.exhausted_untold + excluded.exhausted_untold
  )
  update client_notice_progress p set exhausted_until = span.until from span;

-- notices.forgetDeleted: kept as forget-notices-of-deleted-for-operator
prepare "notices.forgetDeleted" as
  delete from endpoint_notices n using endpoints e
  where (n.failing_since is not null or n.exhausted_untold > 0)
  and e.client_key = n.client_key and e.id = n.endpoint_id and e.deleted_at is not null;

-- notices.forgetDeleted for clients: kept as forget-notices-of-deleted-for-client
prepare "notices.forgetDeleted for clients" as
  delete from client_endpoint_notices n using endpoints e
  where (n.failing_since is not null or n.exhausted_untold > 0)
  and e.client_key = n.client_key and e.id = n.endpoint_id and e.deleted_at is not null;

-- notices.readEndpointsToTell: kept as read-endpoints-to-tell-operator
prepare "notices.readEndpointsToTell" (integer, timestamp with time zone, timestamp with time zone[], timestamp with time zone, bigint) as
  with failing as (
    select h.client_key, h.endpoint_id from endpoint_health h
    join endpoints e on e.client_key = h.client_key and e.id = h.endpoint_id
    left join endpoint_notices n
    on n.client_key = h.client_key and n.endpoint_id = h.endpoint_id
    where h.failing_since <= $2 and e.status = 'ACTIVE' and e.deleted_at is null
    and h.client_key <> $1
    and (select count(*) from unnest($3::timestamptz[]) as step
      where h.failing_since <= step)
    > case when n.failing_since = h.failing_since then n.failing_told else 0 end
    order by h.failing_since limit $5
  ), recovered as (
    select n.client_key, n.endpoint_id from endpoint_notices n
    left join endpoint_health h
    on h.client_key = n.client_key and h.endpoint_id = n.endpoint_id
    where n.failing_since is not null
    and (h.failing_since is null or h.failing_since > n.failing_since)
    limit $5
  ), disabled as (
    select e.client_key, e.id from endpoints e
    left join endpoint_notices n on n.client_key = e.client_key and n.endpoint_id = e.id
    where e.status = 'DISABLED' and e.deleted_at is null
    and n.disabled_since is distinct from e.inactive_since
    and e.client_key <> $1
    limit $5
  ), exhausted as (
    select n.client_key, n.endpoint_id from endpoint_notices n
    where n.exhausted_untold > 0
    and (n.exhausted_told_at is null or n.exhausted_told_at <= $4)
    limit $5
  ), of_interest as (
    select * from failing union select * from recovered
    union select * from disabled union select * from exhausted
  )
  select e.client_key, e.id, e.kind, c.id as client_id, e.account_id, e.url, e.status,
  e.inactive_since, h.failing_since, h.last_success_at, h.last_error,
  (select count(*)::int from (
      select from pending_deliveries p
      where p.endpoint_id = e.id and p.client_key + 0 = e.client_key
      limit 100000) as one) as pending,
  n.sequence, n.failing_since as told_failing_since, n.failing_told, n.disabled_since,
  n.exhausted_total, n.exhausted_untold, n.exhausted_told_at
  from of_interest i (client_key, endpoint_id)
  join endpoints e on e.client_key = i.client_key and e.id = i.endpoint_id
  join clients c on c.client_key = e.client_key
  left join endpoint_health h on h.client_key = e.client_key and h.endpoint_id = e.id
  left join endpoint_notices n on n.client_key = e.client_key and n.endpoint_id = e.id
  where e.deleted_at is null and e.client_key <> $1
  order by e.id limit $5;

-- notices.readEndpointsToTell for clients: kept as read-endpoints-to-tell-client
prepare "notices.readEndpointsToTell for clients" (integer, timestamp with time zone, timestamp with time zone[], timestamp with time zone, bigint) as
  with failing as (
    select h.client_key, h.endpoint_id from endpoint_health h
    join endpoints e on e.client_key = h.client_key and e.id = h.endpoint_id
    left join client_endpoint_notices n
    on n.client_key = h.client_key and n.endpoint_id = h.endpoint_id
    where h.failing_since <= $2 and e.status = 'ACTIVE' and e.deleted_at is null
    and h.client_key in (
      select c.client_key from endpoints t join clients c on c.id = t.scope
      where t.client_key = $1 and t.kind = 'client-notice' and t.deleted_at is null)
    and (select count(*) from unnest($3::timestamptz[]) as step
      where h.failing_since <= step)
    > case when n.failing_since = h.failing_since then n.failing_told else 0 end
    order by h.failing_since limit $5
  ), recovered as (
    select n.client_key, n.endpoint_id from client_endpoint_notices n
    left join endpoint_health h
    on h.client_key = n.client_key and h.endpoint_id = n.endpoint_id
    where n.failing_since is not null
    and (h.failing_since is null or h.failing_since > n.failing_since)
    limit $5
  ), disabled as (
    select e.client_key, e.id from endpoints e
    left join client_endpoint_notices n on n.client_key = e.client_key and n.endpoint_id = e.id
    where e.status = 'DISABLED' and e.deleted_at is null
    and n.disabled_since is distinct from e.inactive_since
    and e.client_key in (
      select c.client_key from endpoints t join clients c on c.id = t.scope
      where t.client_key = $1 and t.kind = 'client-notice' and t.deleted_at is null)
    limit $5
  ), exhausted as (
    select n.client_key, n.endpoint_id from client_endpoint_notices n
    where n.exhausted_untold > 0
    and (n.exhausted_told_at is null or n.exhausted_told_at <= $4)
    limit $5
  ), of_interest as (
    select * from failing union select * from recovered
    union select * from disabled union select * from exhausted
  )
  select e.client_key, e.id, e.kind, c.id as client_id, e.account_id, e.url, e.status,
  e.inactive_since, h.failing_since, h.last_success_at, h.last_error,
  (select count(*)::int from (
      select from pending_deliveries p
      where p.endpoint_id = e.id and p.client_key + 0 = e.client_key
      limit 100000) as one) as pending,
  n.sequence, n.failing_since as told_failing_since, n.failing_told, n.disabled_since,
  n.exhausted_total, n.exhausted_untold, n.exhausted_told_at
  from of_interest i (client_key, endpoint_id)
  join endpoints e on e.client_key = i.client_key and e.id = i.endpoint_id
  join clients c on c.client_key = e.client_key
  left join endpoint_health h on h.client_key = e.client_key and h.endpoint_id = e.id
  left join client_endpoint_notices n on n.client_key = e.client_key and n.endpoint_id = e.id
  where e.deleted_at is null and e.client_key in (
    select c.client_key from endpoints t join clients c on c.id = t.scope
    where t.client_key = $1 and t.kind = 'client-notice' and t.deleted_at is null)
  order by e.id limit $5;

-- notices.saveTold: kept as save-told-operator
prepare "notices.saveTold" (integer[], uuid[], integer[], timestamp with time zone[], smallint[], timestamp with time zone[], bigint[], integer[], timestamp with time zone[]) as
  insert into endpoint_notices
  (client_key, endpoint_id, sequence, failing_since, failing_told, disabled_since,
    exhausted_total, exhausted_untold, exhausted_told_at)
  select * from unnest($1::int[], $2::uuid[], $3::int[], $4::timestamptz[], $5::smallint[],
    $6::timestamptz[], $7::bigint[], $8::int[], $9::timestamptz[])
  on conflict (client_key, endpoint_id) do update set
  sequence = excluded.sequence, failing_since = excluded.failing_since,
  failing_told = excluded.failing_told, disabled_since = excluded.disabled_since,
  exhausted_total = excluded.exhausted_total,
  exhausted_untold = excluded.exhausted_untold,
  exhausted_told_at = excluded.exhausted_told_at;

-- notices.saveTold for clients: kept as save-told-client
prepare "notices.saveTold for clients" (integer[], uuid[], integer[], timestamp with time zone[], smallint[], timestamp with time zone[], bigint[], integer[], timestamp with time zone[]) as
  insert into client_endpoint_notices
  (client_key, endpoint_id, sequence, failing_since, failing_told, disabled_since,
    exhausted_total, exhausted_untold, exhausted_told_at)
  select * from unnest($1::int[], $2::uuid[], $3::int[], $4::timestamptz[], $5::smallint[],
    $6::timestamptz[], $7::bigint[], $8::int[], $9::timestamptz[])
  on conflict (client_key, endpoint_id) do update set
  sequence = excluded.sequence, failing_since = excluded.failing_since,
  failing_told = excluded.failing_told, disabled_since = excluded.disabled_since,
  exhausted_total = excluded.exhausted_total,
  exhausted_untold = excluded.exhausted_untold,
  exhausted_told_at = excluded.exhausted_told_at;
