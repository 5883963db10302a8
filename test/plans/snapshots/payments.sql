-- The statements of server/store/payments/payments.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1; set paybell.cell = 0;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- payments.lockPayments: kept as lock-payments, hot path
prepare "payments.lockPayments" (uuid[]) as
  select pg_advisory_xact_lock(hash) from (
    select distinct uuid_hash_extended(id, current_setting('paybell.cell')::int) as hash
    from unnest($1::uuid[]) as id order by 1) as ordered;
--   always
--     Subquery Scan
--       Unique
--         Sort on (uuid_hash_extended(id.id, ((current_setting('paybell.cell'::text))::integer)::bigint))
--           Function Scan unnest

-- payments.raiseVersions: kept as raise-versions, hot path
prepare "payments.raiseVersions" (integer[], uuid[], bigint[], timestamp with time zone) as
  update payments p set version = given.version, changed_at = $4
  from unnest((select $1::int[])::int[], $2::uuid[], $3::bigint[])
  as given (client_key, id, version)
  where p.id = given.id and p.client_key = given.client_key;
--   for any values: empty, never analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Update payments
--       InitPlan 1: Result
--       Nested Loop
--         Function Scan
--         Index Scan payments by payments_pkey (id, client_key)
--   for any values: empty, analyzed
--     Update payments
--       InitPlan 1: Result
--       Hash Join
--         Function Scan
--         Hash
--           Index Scan payments by payments_newest

-- payments.readLatestPaymentText: planned each time
prepare "payments.readLatestPaymentText" (integer) as
  select p.text from events e
  join payments p on p.client_key = e.client_key and p.id = e.payment_id
  where e.client_key = $1 and e.id >= uuid '019cb0fe-9400-0000-0000-000000000000' and substr(p.text, 46, 12) <> '"erasedAt":"'
  order by e.id desc limit 1;
--   for values given: full, never analyzed
--     Limit
--       Nested Loop
--         Merge Append on e.id DESC
--           Index Scan events_<day> by events_pkey (client_key, id)
--           … 13 alike
--         Index Scan payments by payments_pkey (id, client_key) filter (text)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Nested Loop
--         Merge Append on e.id DESC
--           Index Scan events_<day> by events_pkey (client_key, id)
--           … 13 alike
--         Memoize
--           Index Scan payments by payments_pkey (id, client_key) filter (text)
--   for values given: full, analyzed when empty
--     Limit
--       Sort on e.id DESC
--         Hash Join
--           Bitmap Heap Scan payments filter (text)
--             Bitmap Index Scan payments by payments_newest (client_key)
--           Hash
--             Append
--               Bitmap Heap Scan events_<day>
--                 Bitmap Index Scan events_<day> by events_pkey (client_key, id)
--               … 8 alike
--               Index Scan events_<day> by events_pkey (client_key, id)
--               … 5 alike

-- payments.readLatestPaymentText 2: planned each time
prepare "payments.readLatestPaymentText 2" (integer) as
  select p.text from events e
  join payments p on p.client_key = e.client_key and p.id = e.payment_id
  where e.client_key = $1 and e.id < uuid '019cb0fe-9400-0000-0000-000000000000' and substr(p.text, 46, 12) <> '"erasedAt":"'
  order by e.id desc limit 1;
--   for values given: full, never analyzed; full, analyzed when empty
--     Limit
--       Nested Loop
--         Merge Append on e.id DESC
--           Index Scan events_<day> by events_pkey (client_key, id)
--           … 4 alike
--         Index Scan payments by payments_pkey (id, client_key) filter (text)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Sort on e.id DESC
--         Hash Join
--           Index Scan payments by payments_newest (client_key) filter (text)
--           Hash
--             Append
--               Index Scan events_<day> by events_of_payment (client_key) filter (id)
--               Index Scan events_<day> by events_pkey (client_key, id)
--               Index Scan events_<day> by events_of_payment (client_key) filter (id)
--               Index Scan events_<day> by events_pkey (client_key, id)

-- payments.readLatestPaymentText 3: planned each time
prepare "payments.readLatestPaymentText 3" (integer) as
  select text from payments where client_key = $1 and substr(text, 46, 12) <> '"erasedAt":"'
  order by changed_at desc, id limit 1;
--   for values given: full, never analyzed; full, analyzed when empty
--     Limit
--       Sort on changed_at DESC, id
--         Bitmap Heap Scan payments filter (text)
--           Bitmap Index Scan payments by payments_newest (client_key)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Sort on changed_at DESC, id
--         Index Scan payments by payments_newest (client_key) filter (text)

-- payments.readLocked: kept as read-locked-payments, hot path
prepare "payments.readLocked" (uuid[]) as
  select client_key, id, account_id, sequence, version, text, document_hash
  from payments where id = any((select $1::uuid[])::uuid[]);
--   for any values: empty, never analyzed; full, never analyzed; full, analyzed when empty
--   for values given: full, never analyzed; full, analyzed when empty
--     Bitmap Heap Scan payments
--       InitPlan 1: Result
--       Bitmap Index Scan payments by payments_pkey (id)
--   for any values: empty, analyzed
--     Index Scan payments by payments_newest (id)
--       InitPlan 1: Result
--   for any values: empty, analyzed when full; full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Index Scan payments by payments_pkey (id)
--       InitPlan 1: Result

-- payments.readPayment: kept as read-payment
prepare "payments.readPayment" (uuid, integer) as
  select p.id, c.id as client_id, p.client_key, p.account_id, p.version, p.sequence,
  p.accepted_at, p.text from payments p join clients c using (client_key)
  where p.id = $1 and ($2::int is null or p.client_key = $2) limit 1;
--   for any values: empty, never analyzed; full, never analyzed; full, analyzed when empty
--     Limit
--       Nested Loop
--         Bitmap Heap Scan payments filter (client_key)
--           Bitmap Index Scan payments by payments_pkey (id)
--         Index Scan clients by clients_pkey (client_key)
--   for any values: empty, analyzed
--     Limit
--       Nested Loop with a join filter
--         Index Scan payments by payments_newest (id) filter (client_key)
--         Index Scan clients by clients_pkey
--   for values given: full, never analyzed; full, analyzed when empty
--     Limit
--       Merge Join
--         Index Scan payments by payments_pkey (id)
--         Index Scan clients by clients_pkey
--   for any values: empty, analyzed when full; full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Nested Loop
--         Index Scan payments by payments_pkey (id) filter (client_key)
--         Index Scan clients by clients_pkey (client_key)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Nested Loop
--         Index Scan payments by payments_pkey (id)
--         Index Scan clients by clients_pkey (client_key)

-- payments.tryLockPayments: kept as try-lock-payments, hot path
prepare "payments.tryLockPayments" (uuid[]) as
  select id from unnest($1::uuid[]) as id
  where not pg_try_advisory_xact_lock(uuid_hash_extended(id, current_setting('paybell.cell')::int));
--   always
--     Function Scan unnest
