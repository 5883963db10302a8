-- The statements of server/store/owed/cancellations.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- cancellations.cancelDeliveries of many: kept as cancel-deliveries
prepare "cancellations.cancelDeliveries of many" (integer[], uuid[], timestamp with time zone, timestamp with time zone, timestamp with time zone) as
  with given as (
    select p.client_key, p.id, e.inactive_since from (
      select distinct client_key, id from unnest($1::int[], $2::uuid[]) as k (client_key, id)
      order by client_key, id) as k
    cross join lateral (
      select p.client_key, p.id, p.endpoint_id from pending_deliveries p
      where p.client_key = k.client_key and p.id = k.id
      for update of p skip locked) as p
    cross join lateral (
      select e.inactive_since from endpoints e
      where e.client_key = p.client_key and e.id = p.endpoint_id limit 1) as e
  ), ended as (
    delete from pending_deliveries p using given g where p.client_key = any(array[g.client_key]) and p.id = g.id
    -- What waits for a later time is not under way, nor what was paused a while ago.
    returning p.*, (p.next_attempt_at is null
      or p.next_attempt_at <= $4)
    and (g.inactive_since is null
      or g.inactive_since > $5) as is_begun
  ), filed as (
    insert into final_deliveries
    (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, state, finished_at, is_replay, attempts_begun)
    select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, 'CANCELLED', $3, nullif(is_replay, false),
    case when is_begun then attempts + 1 end
    from ended where (select count(*) from feed_origin) >= 0)
  select client_key, id, endpoint_id, shard, attempts, payment_id, sequence, is_replay
  from ended;
--   always
--     CTE Scan ended
--       CTE given: Nested Loop
--         Nested Loop
--           Unique
--             Sort on k.client_key, k.id
--               Function Scan
--           Subquery Scan
--             LockRows
--               Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--         Memoize
--           Limit
--             Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--       CTE ended: Delete pending_deliveries
--         Nested Loop
--           CTE Scan given
--           Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE filed: Insert final_deliveries
--         InitPlan 3: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           CTE Scan ended

-- cancellations.cancelDeliveries of one: kept as mark-endpoints-of-cancelled
prepare "cancellations.cancelDeliveries of one" (integer[], uuid[], timestamp with time zone) as
  with given as (
    select e.client_key, e.id from endpoints e
    where (e.client_key, e.id) in (select * from unnest($1::int[], $2::uuid[]))
    order by e.client_key, e.id for no key update of e)
  update endpoints e set deliveries_changed_at = greatest(e.deliveries_changed_at, $3)
  from given g where e.client_key = g.client_key and e.id = g.id;
--   for any values: empty, never analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Update endpoints
--       CTE given: LockRows
--         Sort on e_1.client_key, e_1.id
--           Nested Loop
--             Aggregate
--               Function Scan
--             Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--       Nested Loop
--         CTE Scan given
--         Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--   for any values: empty, analyzed
--     Update endpoints
--       CTE given: LockRows
--         Sort on e_1.client_key, e_1.id
--           Hash Join right semi
--             Function Scan
--             Hash
--               Index Scan endpoints by endpoints_by_id
--       Nested Loop with a join filter
--         Index Scan endpoints by endpoints_by_id
--         CTE Scan given

-- cancellations.cancelDeliveries of one 2: kept as cancel-delivery
prepare "cancellations.cancelDeliveries of one 2" (integer[], uuid[], timestamp with time zone, timestamp with time zone, timestamp with time zone) as
  with given as (
    select p.client_key, p.id, e.inactive_since from (
      select distinct client_key, id from unnest($1::int[], $2::uuid[]) as k (client_key, id)
      order by client_key, id) as k
    cross join lateral (
      select p.client_key, p.id, p.endpoint_id from pending_deliveries p
      where p.client_key = k.client_key and p.id = k.id
      for update of p ) as p
    cross join lateral (
      select e.inactive_since from endpoints e
      where e.client_key = p.client_key and e.id = p.endpoint_id limit 1) as e
  ), ended as (
    delete from pending_deliveries p using given g where p.client_key = any(array[g.client_key]) and p.id = g.id
    -- What waits for a later time is not under way, nor what was paused a while ago.
    returning p.*, (p.next_attempt_at is null
      or p.next_attempt_at <= $4)
    and (g.inactive_since is null
      or g.inactive_since > $5) as is_begun
  ), filed as (
    insert into final_deliveries
    (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, state, finished_at, is_replay, attempts_begun)
    select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, 'CANCELLED', $3, nullif(is_replay, false),
    case when is_begun then attempts + 1 end
    from ended where (select count(*) from feed_origin) >= 0)
  select client_key, id, endpoint_id, shard, attempts, payment_id, sequence, is_replay
  from ended;
--   always
--     CTE Scan ended
--       CTE given: Nested Loop
--         Nested Loop
--           Unique
--             Sort on k.client_key, k.id
--               Function Scan
--           Subquery Scan
--             LockRows
--               Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--         Memoize
--           Limit
--             Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--       CTE ended: Delete pending_deliveries
--         Nested Loop
--           CTE Scan given
--           Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE filed: Insert final_deliveries
--         InitPlan 3: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           CTE Scan ended

-- cancellations.findPending: kept as find-pending-delivery
prepare "cancellations.findPending" (integer, uuid, uuid) as
  select p.client_key, p.endpoint_id
  from clients c join pending_deliveries p on p.client_key = c.client_key
  where p.id = $3 and ($1::int is null and not c.is_internal or c.client_key = $1)
  and ($2::uuid is null or p.account_id = $2);
--   for any values: empty, never analyzed
--     Nested Loop
--       Index Scan pending_deliveries by pending_deliveries_pkey (id) filter (account_id)
--       Index Scan clients by clients_pkey (client_key) filter (is_internal, client_key)
--   for any values: empty, analyzed
--     Nested Loop with a join filter
--       Index Scan clients by clients_pkey filter (is_internal, client_key)
--       Index Scan pending_deliveries by pending_deliveries_pkey (id) filter (account_id)
--   for any values: empty, analyzed when full; full, never analyzed; full, analyzed
--     Nested Loop
--       Index Scan clients by clients_pkey filter (is_internal, client_key)
--       Memoize
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (account_id)
--   for values given: full, never analyzed; full, analyzed
--     Nested Loop
--       Index Scan pending_deliveries by pending_deliveries_pkey (id)
--       Index Scan clients by clients_pkey (client_key) filter (is_internal)
--   for any values: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Nested Loop
--       Bitmap Heap Scan pending_deliveries filter (account_id)
--         Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (id)
--       Index Scan clients by clients_pkey (client_key) filter (is_internal, client_key)
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Nested Loop
--       Bitmap Heap Scan pending_deliveries
--         Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (id)
--       Index Scan clients by clients_pkey (client_key) filter (is_internal)

-- cancellations.findStillPending: kept as find-still-pending
prepare "cancellations.findStillPending" (integer[], uuid[]) as
  select p.id from unnest($1::int[], $2::uuid[]) as k (client_key, id)
  cross join lateral (
    select p.id from pending_deliveries p
    where p.client_key = k.client_key and p.id = k.id limit 1) as p;
--   always
--     Nested Loop
--       Function Scan
--       Limit
--         Index Only Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
