-- The statements of server/store/endpoints/notices.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- notices.beginClientNotices: planned each time
prepare "notices.beginClientNotices" (integer) as
  delete from client_endpoint_notices where client_key = $1;
--   for values given: full, never analyzed
--     Delete client_endpoint_notices
--       Bitmap Heap Scan client_endpoint_notices
--         Bitmap Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Delete client_endpoint_notices
--       Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key)

-- notices.beginCounting: planned each time
prepare "notices.beginCounting" (timestamp with time zone) as
  insert into client_notice_progress (exhausted_until) values ($1)
  on conflict (is_only) do nothing;
--   always
--     Insert client_notice_progress
--       Result

-- notices.beginNotices: planned each time
prepare "notices.beginNotices" (timestamp with time zone) as
  insert into notice_progress (exhausted_until) values ($1)
  on conflict (is_only) do update set exhausted_until = excluded.exhausted_until;
--   always
--     Insert notice_progress
--       Result

-- notices.beginNotices 2: planned each time
prepare "notices.beginNotices 2" as
  update endpoint_notices set failing_since = null, failing_told = 0, disabled_since = null,
  exhausted_untold = 0, exhausted_told_at = null;
--   always
--     Update endpoint_notices
--       Seq Scan endpoint_notices

-- notices.countExhausted: kept as read-exhausted-until-for-operator
prepare "notices.countExhausted" (timestamp with time zone) as
  select exhausted_until as after from notice_progress where exhausted_until < $1;
--   always
--     Seq Scan notice_progress filter (exhausted_until)

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
--   for values given: full, never analyzed; full, analyzed when empty
--     Update notice_progress
--       CTE span: Seq Scan notice_progress filter (exhausted_until)
--       CTE added: Insert endpoint_notices
--         InitPlan 2: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           Aggregate
--             Nested Loop with a join filter
--               Index Only Scan final_deliveries_<day> by final_deliveries_exhausted (finished_at) filter (client_key)
--               CTE Scan span
--       Nested Loop
--         CTE Scan span
--         Materialize
--           Seq Scan notice_progress
--   for values given: full, analyzed
--     Update notice_progress
--       CTE span: Seq Scan notice_progress filter (exhausted_until)
--       CTE added: Insert endpoint_notices
--         InitPlan 2: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           Aggregate
--             Nested Loop with a join filter
--               CTE Scan span
--               Index Only Scan final_deliveries_<day> by final_deliveries_exhausted (finished_at) filter (client_key)
--       Nested Loop
--         Seq Scan notice_progress
--         CTE Scan span
--   for values given: full, analyzed but for what is owed
--     Update notice_progress
--       CTE span: Seq Scan notice_progress filter (exhausted_until)
--       CTE added: Insert endpoint_notices
--         InitPlan 2: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           Aggregate
--             Sort on f.client_key, f.endpoint_id
--               Nested Loop with a join filter
--                 CTE Scan span
--                 Index Only Scan final_deliveries_<day> by final_deliveries_exhausted (finished_at) filter (client_key)
--       Nested Loop
--         Seq Scan notice_progress
--         CTE Scan span
--   for values given: full, analyzed, but of today there is nothing
--     Update notice_progress
--       CTE span: Seq Scan notice_progress filter (exhausted_until)
--       CTE added: Insert endpoint_notices
--         InitPlan 2: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           Aggregate
--             Sort on f.client_key, f.endpoint_id
--               Nested Loop with a join filter
--                 CTE Scan span
--                 Index Scan final_deliveries_<day> by undelivered (state) filter (finished_at, client_key)
--       Nested Loop
--         Seq Scan notice_progress
--         CTE Scan span

-- notices.countExhausted for clients: kept as read-exhausted-until-for-client
prepare "notices.countExhausted for clients" (timestamp with time zone) as
  select exhausted_until as after from client_notice_progress where exhausted_until < $1;
--   always
--     Seq Scan client_notice_progress filter (exhausted_until)

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
--   for values given: full, never analyzed
--     Update client_notice_progress
--       CTE span: Seq Scan client_notice_progress filter (exhausted_until)
--       CTE added: Insert client_endpoint_notices
--         InitPlan 2: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           Aggregate
--             Nested Loop with a join filter
--               Nested Loop semi
--                 Index Scan final_deliveries_<day> by undelivered_of_endpoint (state) filter (finished_at)
--                 Nested Loop
--                   Index Scan clients by clients_pkey (client_key)
--                   Index Only Scan endpoints by one_client_notice_endpoint (client_key, scope)
--               CTE Scan span
--       Nested Loop
--         CTE Scan span
--         Materialize
--           Seq Scan client_notice_progress
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Update client_notice_progress
--       CTE span: Seq Scan client_notice_progress filter (exhausted_until)
--       CTE added: Insert client_endpoint_notices
--         InitPlan 2: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           Aggregate
--             Sort on f.client_key, f.endpoint_id
--               Nested Loop with a join filter
--                 Nested Loop
--                   Aggregate
--                     Nested Loop
--                       Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                       Index Scan clients by client_id_is_unique (id)
--                   Index Only Scan final_deliveries_<day> by final_deliveries_exhausted (finished_at, client_key)
--                 CTE Scan span
--       Nested Loop
--         Seq Scan client_notice_progress
--         CTE Scan span
--   for values given: full, analyzed when empty
--     Update client_notice_progress
--       CTE span: Seq Scan client_notice_progress filter (exhausted_until)
--       CTE added: Insert client_endpoint_notices
--         InitPlan 2: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           Aggregate
--             Nested Loop with a join filter
--               Nested Loop semi
--                 Index Scan final_deliveries_<day> by undelivered_of_endpoint (state) filter (finished_at)
--                 Nested Loop
--                   Index Scan clients by clients_pkey (client_key)
--                   Index Only Scan endpoints by one_client_notice_endpoint (client_key, scope)
--               CTE Scan span
--       Nested Loop
--         Seq Scan client_notice_progress
--         CTE Scan span

-- notices.endClientNotices: planned each time
prepare "notices.endClientNotices" as
  delete from client_notice_progress;
--   always
--     Delete client_notice_progress
--       Seq Scan client_notice_progress

-- notices.forgetDeleted: kept as forget-notices-of-deleted-for-operator
prepare "notices.forgetDeleted" as
  delete from endpoint_notices n using endpoints e
  where (n.failing_since is not null or n.exhausted_untold > 0)
  and e.client_key = n.client_key and e.id = n.endpoint_id and e.deleted_at is not null;
--   for any values: empty, never analyzed; full, never analyzed; full, analyzed when empty
--     Delete endpoint_notices
--       Hash Join
--         Bitmap Heap Scan endpoint_notices
--           BitmapOr endpoint_notices
--             Bitmap Index Scan endpoint_notices by endpoints_told_failing
--             Bitmap Index Scan endpoint_notices by endpoints_with_untold
--         Hash
--           Index Scan endpoints by endpoints_by_id filter (deleted_at)
--   for any values: empty, analyzed
--     Delete endpoint_notices
--       Nested Loop with a join filter
--         Index Scan endpoint_notices by endpoint_notices_pkey filter (failing_since, exhausted_untold)
--         Index Scan endpoints by endpoints_by_id filter (deleted_at)
--   for any values: empty, analyzed when full; full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Delete endpoint_notices
--       Nested Loop
--         Index Scan endpoints by endpoints_pkey filter (deleted_at)
--         Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id) filter (failing_since, exhausted_untold)

-- notices.forgetDeleted for clients: kept as forget-notices-of-deleted-for-client
prepare "notices.forgetDeleted for clients" as
  delete from client_endpoint_notices n using endpoints e
  where (n.failing_since is not null or n.exhausted_untold > 0)
  and e.client_key = n.client_key and e.id = n.endpoint_id and e.deleted_at is not null;
--   for any values: empty, never analyzed; full, never analyzed
--     Delete client_endpoint_notices
--       Hash Join
--         Bitmap Heap Scan client_endpoint_notices
--           BitmapOr client_endpoint_notices
--             Bitmap Index Scan client_endpoint_notices by client_endpoints_told_failing
--             Bitmap Index Scan client_endpoint_notices by client_endpoints_with_untold
--         Hash
--           Index Scan endpoints by endpoints_by_id filter (deleted_at)
--   for any values: empty, analyzed
--     Delete client_endpoint_notices
--       Nested Loop with a join filter
--         Index Scan client_endpoint_notices by client_endpoint_notices_pkey filter (failing_since, exhausted_untold)
--         Index Scan endpoints by endpoints_by_id filter (deleted_at)
--   for any values: empty, analyzed when full; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Delete client_endpoint_notices
--       Nested Loop
--         Index Scan client_endpoint_notices by client_endpoint_notices_pkey filter (failing_since, exhausted_untold)
--         Index Scan endpoints by endpoints_by_id (id) filter (deleted_at, client_key)

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
--   for any values: empty, never analyzed
--     Limit
--       Result
--         Sort on e.id
--           Nested Loop left
--             Nested Loop left
--               Nested Loop with a join filter
--                 Hash Join
--                   Aggregate
--                     Append
--                       Sort on failing.client_key, failing.endpoint_id
--                         Subquery Scan
--                           Limit
--                             Sort on h_1.failing_since
--                               Nested Loop left
--                                 Nested Loop
--                                   Index Scan endpoints by one_endpoint_per_address filter (status)
--                                   Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id) filter (failing_since, client_key)
--                                 Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                                 SubPlan 2: Aggregate
--                                   Function Scan unnest
--                       Limit
--                         Merge Join left
--                           Index Scan endpoint_notices by endpoints_told_failing
--                           Index Scan endpoint_health by endpoint_health_pkey
--                       Limit
--                         Nested Loop left
--                           Index Scan endpoints by endpoints_disabled filter (client_key)
--                           Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                       Limit
--                         Index Scan endpoint_notices by endpoints_with_untold filter (exhausted_told_at)
--                   Hash
--                     Index Scan endpoints by one_endpoint_per_address filter (client_key)
--                 Index Scan clients by clients_pkey (client_key)
--               Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--             Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--   for any values: empty, analyzed
--     Limit
--       Nested Loop left with a join filter
--         Nested Loop left with a join filter
--           Nested Loop with a join filter
--             Nested Loop with a join filter
--               Index Scan endpoints by endpoints_by_id filter (deleted_at, client_key)
--               Unique
--                 Sort on failing.client_key, failing.endpoint_id
--                   Append
--                     Sort on failing.client_key, failing.endpoint_id
--                       Subquery Scan
--                         Limit
--                           Sort on h_1.failing_since
--                             Hash Join left
--                               Nested Loop with a join filter
--                                 Index Scan endpoint_health by endpoint_health_pkey filter (failing_since, client_key)
--                                 Index Scan endpoints by endpoints_by_id filter (deleted_at, status)
--                               Hash
--                                 Index Scan endpoint_notices by endpoint_notices_pkey
--                               SubPlan 2: Aggregate
--                                 Function Scan unnest
--                     Limit
--                       Nested Loop left with a join filter
--                         Index Scan endpoint_notices by endpoints_told_failing
--                         Index Scan endpoint_health by endpoint_health_pkey
--                     Limit
--                       Nested Loop left with a join filter
--                         Index Scan endpoints by endpoints_disabled filter (client_key)
--                         Index Scan endpoint_notices by endpoint_notices_pkey
--                     Limit
--                       Index Scan endpoint_notices by endpoints_with_untold filter (exhausted_told_at)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey
--         Index Scan endpoint_notices by endpoint_notices_pkey
--         SubPlan 1: Aggregate
--           Limit
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--   for any values: full, never analyzed
--     Limit
--       Result
--         Sort on e.id
--           Nested Loop left
--             Nested Loop left
--               Nested Loop with a join filter
--                 Hash Join
--                   Aggregate
--                     Append
--                       Sort on failing.client_key, failing.endpoint_id
--                         Subquery Scan
--                           Limit
--                             Sort on h_1.failing_since
--                               Nested Loop left
--                                 Nested Loop
--                                   Index Scan endpoints by one_endpoint_per_address filter (status)
--                                   Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id) filter (failing_since, client_key)
--                                 Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                                 SubPlan 2: Aggregate
--                                   Function Scan unnest
--                       Limit
--                         Merge Join left
--                           Index Scan endpoint_notices by endpoints_told_failing
--                           Index Scan endpoint_health by endpoint_health_pkey
--                       Limit
--                         Nested Loop left
--                           Index Scan endpoints by endpoints_disabled filter (client_key)
--                           Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                       Limit
--                         Index Scan endpoint_notices by endpoints_with_untold filter (exhausted_told_at)
--                   Hash
--                     Index Scan endpoints by one_endpoint_per_address filter (client_key)
--                 Index Scan clients by clients_pkey (client_key)
--               Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--             Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Bitmap Heap Scan pending_deliveries filter (client_key)
--               Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--   for values given: full, never analyzed
--     Limit
--       Result
--         Sort on e.id
--           Nested Loop left
--             Nested Loop left
--               Nested Loop with a join filter
--                 Hash Join
--                   Aggregate
--                     Append
--                       Sort on failing.client_key, failing.endpoint_id
--                         Subquery Scan
--                           Limit
--                             Sort on h_1.failing_since
--                               Nested Loop left
--                                 Nested Loop
--                                   Index Scan endpoints by one_endpoint_per_address filter (status)
--                                   Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id) filter (failing_since, client_key)
--                                 Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                                 SubPlan 2: Aggregate
--                                   Function Scan unnest
--                       Limit
--                         Merge Join left
--                           Index Scan endpoint_notices by endpoints_told_failing
--                           Index Scan endpoint_health by endpoint_health_pkey
--                       Limit
--                         Nested Loop left
--                           Index Scan endpoints by endpoints_disabled filter (client_key)
--                           Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                       Limit
--                         Bitmap Heap Scan endpoint_notices filter (exhausted_told_at)
--                           Bitmap Index Scan endpoint_notices by endpoints_with_untold
--                   Hash
--                     Index Scan endpoints by one_endpoint_per_address filter (client_key)
--                 Index Scan clients by clients_pkey (client_key)
--               Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--             Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Bitmap Heap Scan pending_deliveries filter (client_key)
--               Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--   for any values: empty, analyzed when full; full, analyzed
--     Limit
--       Result
--         Sort on e.id
--           Nested Loop left
--             Nested Loop left
--               Nested Loop with a join filter
--                 Nested Loop
--                   Aggregate
--                     Append
--                       Sort on failing.client_key, failing.endpoint_id
--                         Subquery Scan
--                           Limit
--                             Sort on h_1.failing_since
--                               Nested Loop left
--                                 Hash Join
--                                   Index Scan endpoints by endpoints_pkey filter (deleted_at, status)
--                                   Hash
--                                     Index Scan endpoint_health by endpoints_failing (failing_since) filter (client_key)
--                                 Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                                 SubPlan 2: Aggregate
--                                   Function Scan unnest
--                       Limit
--                         Merge Join left
--                           Index Scan endpoint_notices by endpoints_told_failing
--                           Index Scan endpoint_health by endpoint_health_pkey
--                       Limit
--                         Nested Loop left
--                           Index Scan endpoints by endpoints_disabled filter (client_key)
--                           Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                       Limit
--                         Index Scan endpoint_notices by endpoints_with_untold filter (exhausted_told_at)
--                   Index Scan clients by clients_pkey (client_key)
--                 Index Scan endpoints by endpoints_pkey (client_key) filter (deleted_at, client_key)
--               Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--             Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Bitmap Heap Scan pending_deliveries filter (client_key)
--               Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--   for values given: full, analyzed
--     Limit
--       Result
--         Sort on e.id
--           Nested Loop left
--             Nested Loop left
--               Nested Loop
--                 Hash Join
--                   Index Scan endpoints by endpoints_pkey filter (deleted_at, client_key)
--                   Hash
--                     Aggregate
--                       Append
--                         Sort on failing.client_key, failing.endpoint_id
--                           Subquery Scan
--                             Limit
--                               Sort on h_1.failing_since
--                                 Nested Loop left
--                                   Hash Join
--                                     Index Scan endpoints by endpoints_pkey filter (deleted_at, status)
--                                     Hash
--                                       Index Scan endpoint_health by endpoints_failing (failing_since) filter (client_key)
--                                   Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                                   SubPlan 2: Aggregate
--                                     Function Scan unnest
--                         Limit
--                           Merge Join left
--                             Index Scan endpoint_notices by endpoints_told_failing
--                             Index Scan endpoint_health by endpoint_health_pkey
--                         Limit
--                           Nested Loop left
--                             Index Scan endpoints by endpoints_disabled filter (client_key)
--                             Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                         Limit
--                           Index Scan endpoint_notices by endpoints_with_untold filter (exhausted_told_at)
--                 Index Scan clients by clients_pkey (client_key)
--               Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--             Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Bitmap Heap Scan pending_deliveries filter (client_key)
--               Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--   for any values: full, analyzed when empty
--     Limit
--       Result
--         Sort on e.id
--           Nested Loop left
--             Nested Loop left
--               Nested Loop with a join filter
--                 Nested Loop with a join filter
--                   Index Scan endpoints by one_endpoint_per_address filter (client_key)
--                   Aggregate
--                     Append
--                       Sort on failing.client_key, failing.endpoint_id
--                         Subquery Scan
--                           Limit
--                             Sort on h_1.failing_since
--                               Nested Loop left
--                                 Nested Loop
--                                   Index Scan endpoints by one_endpoint_per_address filter (status)
--                                   Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id) filter (failing_since, client_key)
--                                 Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                                 SubPlan 2: Aggregate
--                                   Function Scan unnest
--                       Limit
--                         Merge Join left
--                           Index Scan endpoint_notices by endpoints_told_failing
--                           Index Scan endpoint_health by endpoint_health_pkey
--                       Limit
--                         Nested Loop left
--                           Index Scan endpoints by endpoints_disabled filter (client_key)
--                           Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                       Limit
--                         Index Scan endpoint_notices by endpoints_with_untold filter (exhausted_told_at)
--                 Index Scan clients by clients_pkey (client_key)
--               Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--             Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--   for values given: full, analyzed when empty
--     Limit
--       Result
--         Sort on e.id
--           Nested Loop left
--             Nested Loop left
--               Nested Loop with a join filter
--                 Hash Join
--                   Aggregate
--                     Append
--                       Sort on failing.client_key, failing.endpoint_id
--                         Subquery Scan
--                           Limit
--                             Sort on h_1.failing_since
--                               Nested Loop left
--                                 Nested Loop
--                                   Index Scan endpoints by one_endpoint_per_address filter (status)
--                                   Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id) filter (failing_since, client_key)
--                                 Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                                 SubPlan 2: Aggregate
--                                   Function Scan unnest
--                       Limit
--                         Merge Join left
--                           Index Scan endpoint_notices by endpoints_told_failing
--                           Index Scan endpoint_health by endpoint_health_pkey
--                       Limit
--                         Nested Loop left
--                           Index Scan endpoints by endpoints_disabled filter (client_key)
--                           Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                       Limit
--                         Bitmap Heap Scan endpoint_notices filter (exhausted_told_at)
--                           Bitmap Index Scan endpoint_notices by endpoints_with_untold
--                   Hash
--                     Index Scan endpoints by one_endpoint_per_address filter (client_key)
--                 Index Scan clients by clients_pkey (client_key)
--               Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--             Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--   for any values: full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Result
--         Sort on e.id
--           Nested Loop left
--             Nested Loop left
--               Nested Loop with a join filter
--                 Nested Loop
--                   Aggregate
--                     Append
--                       Sort on failing.client_key, failing.endpoint_id
--                         Subquery Scan
--                           Limit
--                             Sort on h_1.failing_since
--                               Nested Loop left
--                                 Hash Join
--                                   Index Scan endpoints by endpoints_pkey filter (deleted_at, status)
--                                   Hash
--                                     Index Scan endpoint_health by endpoints_failing (failing_since) filter (client_key)
--                                 Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                                 SubPlan 2: Aggregate
--                                   Function Scan unnest
--                       Limit
--                         Merge Join left
--                           Index Scan endpoint_notices by endpoints_told_failing
--                           Index Scan endpoint_health by endpoint_health_pkey
--                       Limit
--                         Nested Loop left
--                           Index Scan endpoints by endpoints_disabled filter (client_key)
--                           Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                       Limit
--                         Index Scan endpoint_notices by endpoints_with_untold filter (exhausted_told_at)
--                   Index Scan clients by clients_pkey (client_key)
--                 Index Scan endpoints by endpoints_pkey (client_key) filter (deleted_at, client_key)
--               Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--             Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--   for values given: full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Result
--         Sort on e.id
--           Nested Loop left
--             Nested Loop left
--               Nested Loop
--                 Hash Join
--                   Index Scan endpoints by endpoints_pkey filter (deleted_at, client_key)
--                   Hash
--                     Aggregate
--                       Append
--                         Sort on failing.client_key, failing.endpoint_id
--                           Subquery Scan
--                             Limit
--                               Sort on h_1.failing_since
--                                 Nested Loop left
--                                   Hash Join
--                                     Index Scan endpoints by endpoints_pkey filter (deleted_at, status)
--                                     Hash
--                                       Index Scan endpoint_health by endpoints_failing (failing_since) filter (client_key)
--                                   Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                                   SubPlan 2: Aggregate
--                                     Function Scan unnest
--                         Limit
--                           Merge Join left
--                             Index Scan endpoint_notices by endpoints_told_failing
--                             Index Scan endpoint_health by endpoint_health_pkey
--                         Limit
--                           Nested Loop left
--                             Index Scan endpoints by endpoints_disabled filter (client_key)
--                             Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--                         Limit
--                           Index Scan endpoint_notices by endpoints_with_untold filter (exhausted_told_at)
--                 Index Scan clients by clients_pkey (client_key)
--               Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--             Index Scan endpoint_notices by endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)

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
--   for any values: empty, never analyzed
--     Limit
--       Result
--         Sort on e.id
--           Nested Loop left
--             Nested Loop left
--               Nested Loop with a join filter
--                 Nested Loop semi with a join filter
--                   Hash Join
--                     Aggregate
--                       Append
--                         Sort on failing.client_key, failing.endpoint_id
--                           Subquery Scan
--                             Limit
--                               Sort on h_1.failing_since
--                                 Nested Loop left
--                                   Nested Loop with a join filter
--                                     Nested Loop
--                                       Aggregate
--                                         Nested Loop
--                                           Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                                           Index Scan clients by client_id_is_unique (id)
--                                       Index Scan endpoint_health by endpoint_health_pkey (client_key) filter (failing_since)
--                                     Index Scan endpoints by one_endpoint_per_address (client_key) filter (status)
--                                   Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--                                   SubPlan 2: Aggregate
--                                     Function Scan unnest
--                         Limit
--                           Merge Join left
--                             Index Scan client_endpoint_notices by client_endpoints_told_failing
--                             Index Scan endpoint_health by endpoint_health_pkey
--                         Limit
--                           Nested Loop left
--                             Nested Loop semi
--                               Index Scan endpoints by endpoints_disabled
--                               Nested Loop
--                                 Index Scan clients by clients_pkey (client_key)
--                                 Index Only Scan endpoints by one_client_notice_endpoint (client_key, scope)
--                             Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--                         Limit
--                           Index Scan client_endpoint_notices by client_endpoints_with_untold filter (exhausted_told_at)
--                     Hash
--                       Index Scan endpoints by one_endpoint_per_address
--                   Nested Loop
--                     Index Scan clients by clients_pkey (client_key)
--                     Index Only Scan endpoints by one_client_notice_endpoint (client_key, scope)
--                 Index Scan clients by clients_pkey (client_key)
--               Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--             Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--   for any values: empty, analyzed
--     Limit
--       Nested Loop left with a join filter
--         Nested Loop left with a join filter
--           Nested Loop with a join filter
--             Nested Loop semi with a join filter
--               Nested Loop with a join filter
--                 Index Scan endpoints by endpoints_by_id filter (deleted_at)
--                 Unique
--                   Sort on failing.client_key, failing.endpoint_id
--                     Append
--                       Sort on failing.client_key, failing.endpoint_id
--                         Subquery Scan
--                           Limit
--                             Sort on h_1.failing_since
--                               Hash Join left
--                                 Nested Loop with a join filter
--                                   Nested Loop semi with a join filter
--                                     Index Scan endpoint_health by endpoints_failing (failing_since)
--                                     Nested Loop with a join filter
--                                       Index Scan clients by clients_pkey
--                                       Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                                   Index Scan endpoints by endpoints_by_id filter (deleted_at, status)
--                                 Hash
--                                   Index Scan client_endpoint_notices by client_endpoint_notices_pkey
--                                 SubPlan 2: Aggregate
--                                   Function Scan unnest
--                       Limit
--                         Nested Loop left with a join filter
--                           Index Scan client_endpoint_notices by client_endpoints_told_failing
--                           Index Scan endpoint_health by endpoint_health_pkey
--                       Limit
--                         Nested Loop left with a join filter
--                           Nested Loop semi with a join filter
--                             Index Scan endpoints by endpoints_disabled
--                             Nested Loop with a join filter
--                               Index Scan clients by clients_pkey
--                               Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                           Index Scan client_endpoint_notices by client_endpoint_notices_pkey
--                       Limit
--                         Index Scan client_endpoint_notices by client_endpoints_with_untold filter (exhausted_told_at)
--               Nested Loop with a join filter
--                 Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                 Index Scan clients by clients_pkey (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey
--         Index Scan client_endpoint_notices by client_endpoint_notices_pkey
--         SubPlan 1: Aggregate
--           Limit
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--   for any values: full, never analyzed
--     Limit
--       Result
--         Sort on e.id
--           Nested Loop left
--             Nested Loop left
--               Nested Loop with a join filter
--                 Nested Loop semi with a join filter
--                   Hash Join
--                     Aggregate
--                       Append
--                         Sort on failing.client_key, failing.endpoint_id
--                           Subquery Scan
--                             Limit
--                               Sort on h_1.failing_since
--                                 Nested Loop left
--                                   Nested Loop with a join filter
--                                     Nested Loop
--                                       Aggregate
--                                         Nested Loop
--                                           Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                                           Index Scan clients by client_id_is_unique (id)
--                                       Index Scan endpoint_health by endpoint_health_pkey (client_key) filter (failing_since)
--                                     Index Scan endpoints by endpoints_pkey (client_key) filter (deleted_at, status)
--                                   Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--                                   SubPlan 2: Aggregate
--                                     Function Scan unnest
--                         Limit
--                           Merge Join left
--                             Index Scan client_endpoint_notices by client_endpoints_told_failing
--                             Index Scan endpoint_health by endpoint_health_pkey
--                         Limit
--                           Nested Loop left
--                             Nested Loop semi
--                               Index Scan endpoints by endpoints_disabled
--                               Nested Loop
--                                 Index Scan clients by clients_pkey (client_key)
--                                 Index Only Scan endpoints by one_client_notice_endpoint (client_key, scope)
--                             Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--                         Limit
--                           Index Scan client_endpoint_notices by client_endpoints_with_untold filter (exhausted_told_at)
--                     Hash
--                       Index Scan endpoints by one_endpoint_per_address
--                   Nested Loop
--                     Index Scan clients by clients_pkey (client_key)
--                     Index Only Scan endpoints by one_client_notice_endpoint (client_key, scope)
--                 Index Scan clients by clients_pkey (client_key)
--               Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--             Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Bitmap Heap Scan pending_deliveries filter (client_key)
--               Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--   for values given: full, never analyzed
--     Limit
--       Result
--         Sort on e.id
--           Nested Loop left
--             Nested Loop left
--               Nested Loop with a join filter
--                 Nested Loop semi with a join filter
--                   Hash Join
--                     Aggregate
--                       Append
--                         Sort on failing.client_key, failing.endpoint_id
--                           Subquery Scan
--                             Limit
--                               Sort on h_1.failing_since
--                                 Nested Loop left
--                                   Nested Loop with a join filter
--                                     Nested Loop
--                                       Aggregate
--                                         Nested Loop
--                                           Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                                           Index Scan clients by client_id_is_unique (id)
--                                       Index Scan endpoint_health by endpoint_health_pkey (client_key) filter (failing_since)
--                                     Index Scan endpoints by endpoints_pkey (client_key) filter (deleted_at, status)
--                                   Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--                                   SubPlan 2: Aggregate
--                                     Function Scan unnest
--                         Limit
--                           Merge Join left
--                             Index Scan client_endpoint_notices by client_endpoints_told_failing
--                             Index Scan endpoint_health by endpoint_health_pkey
--                         Limit
--                           Nested Loop left
--                             Nested Loop semi
--                               Index Scan endpoints by endpoints_disabled
--                               Nested Loop
--                                 Index Scan clients by clients_pkey (client_key)
--                                 Index Only Scan endpoints by one_client_notice_endpoint (client_key, scope)
--                             Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--                         Limit
--                           Bitmap Heap Scan client_endpoint_notices filter (exhausted_told_at)
--                             Bitmap Index Scan client_endpoint_notices by client_endpoints_with_untold
--                     Hash
--                       Index Scan endpoints by one_endpoint_per_address
--                   Nested Loop
--                     Index Scan clients by clients_pkey (client_key)
--                     Index Only Scan endpoints by one_client_notice_endpoint (client_key, scope)
--                 Index Scan clients by clients_pkey (client_key)
--               Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--             Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Bitmap Heap Scan pending_deliveries filter (client_key)
--               Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--   for any values: empty, analyzed when full; full, analyzed
--     Limit
--       Nested Loop left
--         Nested Loop left
--           Nested Loop
--             Merge Join
--               Sort on e.id, e.client_key
--                 Nested Loop
--                   Aggregate
--                     Nested Loop
--                       Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                       Index Scan clients by client_id_is_unique (id)
--                   Index Scan endpoints by endpoints_pkey (client_key) filter (deleted_at)
--               Sort on failing.endpoint_id, failing.client_key
--                 Unique
--                   Sort on failing.client_key, failing.endpoint_id
--                     Append
--                       Sort on failing.client_key, failing.endpoint_id
--                         Subquery Scan
--                           Limit
--                             Sort on h_1.failing_since
--                               Nested Loop left
--                                 Nested Loop
--                                   Nested Loop
--                                     Aggregate
--                                       Nested Loop
--                                         Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                                         Index Scan clients by client_id_is_unique (id)
--                                     Index Scan endpoint_health by endpoint_health_pkey (client_key) filter (failing_since)
--                                   Index Scan endpoints by endpoints_by_id (id) filter (deleted_at, status, client_key)
--                                 Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--                                 SubPlan 2: Aggregate
--                                   Function Scan unnest
--                       Limit
--                         Nested Loop left
--                           Index Scan client_endpoint_notices by client_endpoints_told_failing
--                           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--                       Limit
--                         Nested Loop left
--                           Nested Loop
--                             Aggregate
--                               Nested Loop
--                                 Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                                 Index Scan clients by client_id_is_unique (id)
--                             Index Scan endpoints by endpoints_disabled (client_key)
--                           Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--                       Limit
--                         Index Scan client_endpoint_notices by client_endpoints_with_untold filter (exhausted_told_at)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--         Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Bitmap Heap Scan pending_deliveries filter (client_key)
--               Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--   for values given: full, analyzed
--     Limit
--       Nested Loop left
--         Nested Loop left
--           Nested Loop
--             Merge Join
--               Sort on e.id, e.client_key
--                 Nested Loop
--                   Aggregate
--                     Nested Loop
--                       Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                       Index Scan clients by client_id_is_unique (id)
--                   Index Scan endpoints by endpoints_pkey (client_key) filter (deleted_at)
--               Sort on failing.endpoint_id, failing.client_key
--                 Unique
--                   Sort on failing.client_key, failing.endpoint_id
--                     Append
--                       Sort on failing.client_key, failing.endpoint_id
--                         Subquery Scan
--                           Limit
--                             Sort on h_1.failing_since
--                               Nested Loop left
--                                 Nested Loop with a join filter
--                                   Nested Loop
--                                     Aggregate
--                                       Nested Loop
--                                         Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                                         Index Scan clients by client_id_is_unique (id)
--                                     Index Scan endpoint_health by endpoint_health_pkey (client_key) filter (failing_since)
--                                   Index Scan endpoints by endpoints_pkey (client_key) filter (deleted_at, status)
--                                 Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--                                 SubPlan 2: Aggregate
--                                   Function Scan unnest
--                       Limit
--                         Nested Loop left
--                           Index Scan client_endpoint_notices by client_endpoints_told_failing
--                           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--                       Limit
--                         Nested Loop left
--                           Nested Loop
--                             Aggregate
--                               Nested Loop
--                                 Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                                 Index Scan clients by client_id_is_unique (id)
--                             Index Scan endpoints by endpoints_disabled (client_key)
--                           Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--                       Limit
--                         Index Scan client_endpoint_notices by client_endpoints_with_untold filter (exhausted_told_at)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--         Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Bitmap Heap Scan pending_deliveries filter (client_key)
--               Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--   for any values: full, analyzed when empty
--   for values given: full, analyzed when empty
--     Limit
--       Nested Loop left with a join filter
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop semi with a join filter
--               Merge Join
--                 Sort on failing.endpoint_id, failing.client_key
--                   Unique
--                     Sort on failing.client_key, failing.endpoint_id
--                       Append
--                         Sort on failing.client_key, failing.endpoint_id
--                           Subquery Scan
--                             Limit
--                               Sort on h_1.failing_since
--                                 Nested Loop left
--                                   Nested Loop semi with a join filter
--                                     Nested Loop
--                                       Index Scan endpoints by one_endpoint_per_address filter (status)
--                                       Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id) filter (failing_since)
--                                     Nested Loop
--                                       Index Scan clients by clients_pkey (client_key)
--                                       Index Only Scan endpoints by one_client_notice_endpoint (client_key, scope)
--                                   Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--                                   SubPlan 2: Aggregate
--                                     Function Scan unnest
--                         Limit
--                           Nested Loop left
--                             Index Scan client_endpoint_notices by client_endpoints_told_failing
--                             Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--                         Limit
--                           Nested Loop left with a join filter
--                             Nested Loop semi
--                               Index Scan endpoints by endpoints_disabled
--                               Nested Loop
--                                 Index Scan clients by clients_pkey (client_key)
--                                 Index Only Scan endpoints by one_client_notice_endpoint (client_key, scope)
--                             Index Scan client_endpoint_notices by client_endpoint_notices_pkey
--                         Limit
--                           Index Scan client_endpoint_notices by client_endpoints_with_untold filter (exhausted_told_at)
--                 Sort on e.id, e.client_key
--                   Index Scan endpoints by one_endpoint_per_address
--               Nested Loop
--                 Index Scan clients by clients_pkey (client_key)
--                 Index Only Scan endpoints by one_client_notice_endpoint (client_key, scope)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--         Index Scan client_endpoint_notices by client_endpoint_notices_pkey
--         SubPlan 1: Aggregate
--           Limit
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--   for any values: full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Nested Loop left
--         Nested Loop left
--           Nested Loop
--             Merge Join
--               Sort on e.id, e.client_key
--                 Nested Loop
--                   Aggregate
--                     Nested Loop
--                       Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                       Index Scan clients by client_id_is_unique (id)
--                   Index Scan endpoints by endpoints_pkey (client_key) filter (deleted_at)
--               Sort on failing.endpoint_id, failing.client_key
--                 Unique
--                   Sort on failing.client_key, failing.endpoint_id
--                     Append
--                       Sort on failing.client_key, failing.endpoint_id
--                         Subquery Scan
--                           Limit
--                             Sort on h_1.failing_since
--                               Nested Loop left
--                                 Nested Loop
--                                   Nested Loop
--                                     Aggregate
--                                       Nested Loop
--                                         Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                                         Index Scan clients by client_id_is_unique (id)
--                                     Index Scan endpoint_health by endpoint_health_pkey (client_key) filter (failing_since)
--                                   Index Scan endpoints by endpoints_by_id (id) filter (deleted_at, status, client_key)
--                                 Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--                                 SubPlan 2: Aggregate
--                                   Function Scan unnest
--                       Limit
--                         Nested Loop left
--                           Index Scan client_endpoint_notices by client_endpoints_told_failing
--                           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--                       Limit
--                         Nested Loop left
--                           Nested Loop
--                             Aggregate
--                               Nested Loop
--                                 Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                                 Index Scan clients by client_id_is_unique (id)
--                             Index Scan endpoints by endpoints_disabled (client_key)
--                           Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--                       Limit
--                         Index Scan client_endpoint_notices by client_endpoints_with_untold filter (exhausted_told_at)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--         Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--   for values given: full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Nested Loop left
--         Nested Loop left
--           Nested Loop
--             Merge Join
--               Sort on e.id, e.client_key
--                 Nested Loop
--                   Aggregate
--                     Nested Loop
--                       Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                       Index Scan clients by client_id_is_unique (id)
--                   Index Scan endpoints by endpoints_pkey (client_key) filter (deleted_at)
--               Sort on failing.endpoint_id, failing.client_key
--                 Unique
--                   Sort on failing.client_key, failing.endpoint_id
--                     Append
--                       Sort on failing.client_key, failing.endpoint_id
--                         Subquery Scan
--                           Limit
--                             Sort on h_1.failing_since
--                               Nested Loop left
--                                 Nested Loop with a join filter
--                                   Nested Loop
--                                     Aggregate
--                                       Nested Loop
--                                         Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                                         Index Scan clients by client_id_is_unique (id)
--                                     Index Scan endpoint_health by endpoint_health_pkey (client_key) filter (failing_since)
--                                   Index Scan endpoints by endpoints_pkey (client_key) filter (deleted_at, status)
--                                 Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--                                 SubPlan 2: Aggregate
--                                   Function Scan unnest
--                       Limit
--                         Nested Loop left
--                           Index Scan client_endpoint_notices by client_endpoints_told_failing
--                           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--                       Limit
--                         Nested Loop left
--                           Nested Loop
--                             Aggregate
--                               Nested Loop
--                                 Index Only Scan endpoints by one_client_notice_endpoint (client_key)
--                                 Index Scan clients by client_id_is_unique (id)
--                             Index Scan endpoints by endpoints_disabled (client_key)
--                           Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--                       Limit
--                         Index Scan client_endpoint_notices by client_endpoints_with_untold filter (exhausted_told_at)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--         Index Scan client_endpoint_notices by client_endpoint_notices_pkey (client_key, endpoint_id)
--         SubPlan 1: Aggregate
--           Limit
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)

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
--   always
--     Insert endpoint_notices
--       Function Scan

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
--   always
--     Insert client_endpoint_notices
--       Function Scan
