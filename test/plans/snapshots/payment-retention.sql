-- The statements of server/store/removal/payment-retention.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- payment-retention.forgetOldPayments: kept as forget-old-payments
prepare "payment-retention.forgetOldPayments" (integer, timestamp with time zone, timestamp with time zone, uuid, bigint, uuid) as
  with looked as materialized (
    select p.id, p.accepted_at, p.changed_at from payments p
    where p.client_key = $1 and p.accepted_at < $2
    and (p.accepted_at, p.id) > ($3::timestamptz, $4::uuid)
    order by p.accepted_at, p.id limit $5
  ), owed as materialized (
    select distinct d.payment_id from pending_deliveries d
    where d.client_key = $1 and d.id < $6
  ), old as materialized (
    select p.id from looked l cross join lateral (
      select p.id from payments p
      where p.id = l.id and p.client_key = $1 and p.changed_at < $2
      and p.id not in (select payment_id from owed)
      for update of p skip locked) as p
  ), gone as (
    delete from payments p using old
    where p.id = old.id and p.client_key = $1
    returning p.id
  )
  select l.accepted_at::text, l.id, l.id in (select id from gone) as is_old from looked l
  order by l.accepted_at, l.id;
--   for any values: empty, never analyzed
--     CTE Scan looked
--       CTE looked: Limit
--         Index Scan payments by payments_newest (client_key, accepted_at, id)
--       CTE owed: Unique
--         Sort on d.payment_id
--           Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE old: Nested Loop
--         CTE Scan looked
--         Subquery Scan
--           LockRows
--             Index Scan payments by payments_pkey (id, client_key) filter (changed_at, id)
--               SubPlan 3: CTE Scan owed
--       CTE gone: Delete payments
--         Nested Loop with a join filter
--           CTE Scan old
--           Bitmap Heap Scan payments
--             Bitmap Index Scan payments by payments_newest (client_key)
--       SubPlan 6: CTE Scan gone
--   for any values: empty, analyzed
--     CTE Scan looked
--       CTE looked: Limit
--         Index Scan payments by payments_newest (client_key, accepted_at, id)
--       CTE owed: Unique
--         Sort on d.payment_id
--           Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE old: Nested Loop
--         CTE Scan looked
--         Subquery Scan
--           LockRows
--             Index Scan payments by payments_newest (client_key, id) filter (changed_at, id)
--               SubPlan 3: CTE Scan owed
--       CTE gone: Delete payments
--         Nested Loop with a join filter
--           Index Scan payments by payments_pkey (client_key)
--           CTE Scan old
--       SubPlan 6: CTE Scan gone
--   for any values: full, never analyzed
--   for values given: full, never analyzed
--     CTE Scan looked
--       CTE looked: Limit
--         Index Scan payments by payments_newest (client_key, accepted_at, id)
--       CTE owed: Aggregate
--         Bitmap Heap Scan pending_deliveries
--           Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE old: Nested Loop
--         CTE Scan looked
--         Subquery Scan
--           LockRows
--             Index Scan payments by payments_pkey (id, client_key) filter (changed_at, id)
--               SubPlan 3: CTE Scan owed
--       CTE gone: Delete payments
--         Nested Loop
--           CTE Scan old
--           Index Scan payments by payments_pkey (id, client_key)
--       SubPlan 6: CTE Scan gone
--   for any values: empty, analyzed when full; full, analyzed
--   for values given: full, analyzed
--     CTE Scan looked
--       CTE looked: Limit
--         Index Scan payments by payments_newest (client_key, accepted_at, id)
--       CTE owed: Aggregate
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE old: Nested Loop
--         CTE Scan looked
--         Subquery Scan
--           LockRows
--             Index Scan payments by payments_pkey (id, client_key) filter (changed_at, id)
--               SubPlan 3: CTE Scan owed
--       CTE gone: Delete payments
--         Nested Loop
--           CTE Scan old
--           Index Scan payments by payments_pkey (id, client_key)
--       SubPlan 6: CTE Scan gone
--   for any values: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     CTE Scan looked
--       CTE looked: Limit
--         Index Scan payments by payments_newest (client_key, accepted_at, id)
--       CTE owed: Unique
--         Sort on d.payment_id
--           Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE old: Nested Loop
--         CTE Scan looked
--         Subquery Scan
--           LockRows
--             Index Scan payments by payments_pkey (id, client_key) filter (changed_at, id)
--               SubPlan 3: CTE Scan owed
--       CTE gone: Delete payments
--         Nested Loop
--           CTE Scan old
--           Index Scan payments by payments_pkey (id, client_key)
--       SubPlan 6: CTE Scan gone
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     CTE Scan looked
--       CTE looked: Limit
--         Index Scan payments by payments_newest (client_key, accepted_at, id)
--       CTE owed: Unique
--         Sort on d.payment_id
--           Bitmap Heap Scan pending_deliveries
--             Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE old: Nested Loop
--         CTE Scan looked
--         Subquery Scan
--           LockRows
--             Index Scan payments by payments_pkey (id, client_key) filter (changed_at, id)
--               SubPlan 3: CTE Scan owed
--       CTE gone: Delete payments
--         Nested Loop
--           CTE Scan old
--           Index Scan payments by payments_pkey (id, client_key)
--       SubPlan 6: CTE Scan gone

-- payment-retention.readClientKeys: kept as read-client-keys
prepare "payment-retention.readClientKeys" as
  select client_key from clients order by client_key;
--   always
--     Index Only Scan clients by clients_pkey
