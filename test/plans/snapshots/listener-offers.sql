-- The statements of server/store/endpoints/listener-offers.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- listener-offers.answerOffer: kept as answer-listener-offer
prepare "listener-offers.answerOffer" (integer, uuid, uuid, text, smallint, integer, text, bytea, timestamp with time zone) as
  update listener_offers set outcome = $4, status = $5, duration_ms = $6, retry_after = $7,
  excerpt = $8
  where client_key = $1 and listener_id = $2 and id = $3 and taken_at is not null
  and outcome is null and deadline_at > $9;
--   for any values: empty, never analyzed; empty, analyzed when full; full, never analyzed; full, analyzed
--   for values given: full, never analyzed; full, analyzed
--     Update listener_offers
--       Index Scan listener_offers by listener_offers_pkey (client_key, listener_id, id) filter (taken_at, outcome, deadline_at)
--   for any values: empty, analyzed
--     Update listener_offers
--       Index Scan listener_offers by listener_offers_by_deadline (deadline_at) filter (taken_at, outcome, client_key, listener_id, id)
--   for any values: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Update listener_offers
--       Bitmap Heap Scan listener_offers filter (taken_at, outcome, client_key, listener_id, id)
--         Bitmap Index Scan listener_offers by listener_offers_by_deadline (deadline_at)

-- listener-offers.collectAnswers: kept as collect-listener-answers
prepare "listener-offers.collectAnswers" (integer[], uuid[], uuid[]) as
  delete from listener_offers o
  using unnest($1::int[], $2::uuid[], $3::uuid[]) as k (client_key, listener_id, id)
  where o.client_key = k.client_key and o.listener_id = k.listener_id and o.id = k.id
  and o.outcome is not null
  returning o.id, o.outcome, o.status, o.duration_ms, o.retry_after, o.excerpt;
--   for any values: empty, never analyzed; empty, analyzed when full; full, never analyzed; full, analyzed
--   for values given: full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Delete listener_offers
--       Nested Loop
--         Function Scan
--         Index Scan listener_offers by listener_offers_pkey (client_key, listener_id, id) filter (outcome)
--   for any values: empty, analyzed
--     Delete listener_offers
--       Hash Join
--         Function Scan
--         Hash
--           Index Scan listener_offers by listener_offers_pkey filter (outcome)
--   for any values: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Delete listener_offers
--       Nested Loop with a join filter
--         Index Scan listener_offers by listener_offers_pkey filter (outcome)
--         Function Scan

-- listener-offers.deleteOldOffers: planned each time
prepare "listener-offers.deleteOldOffers" (timestamp with time zone) as
  delete from listener_offers where deadline_at < $1;
--   for values given: full, never analyzed
--     Delete listener_offers
--       Bitmap Heap Scan listener_offers
--         Bitmap Index Scan listener_offers by listener_offers_by_deadline (deadline_at)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Delete listener_offers
--       Index Scan listener_offers by listener_offers_by_deadline (deadline_at)

-- listener-offers.findOffered: kept as find-offered-listeners
prepare "listener-offers.findOffered" (integer[], uuid[], timestamp with time zone) as
  select k.listener_id from unnest($1::int[], $2::uuid[]) as k (client_key, listener_id)
  where exists (
    select from listener_offers o
    where o.client_key = k.client_key and o.listener_id = k.listener_id
    and o.taken_at is null and o.deadline_at > $3);
--   for any values: empty, never analyzed; empty, analyzed when full; full, analyzed
--   for values given: full, never analyzed; full, analyzed
--     Nested Loop semi
--       Function Scan
--       Index Scan listener_offers by listener_offers_pkey (client_key, listener_id) filter (taken_at, deadline_at)
--   for any values: empty, analyzed
--     Hash Join semi
--       Function Scan
--       Hash
--         Index Scan listener_offers by listener_offers_pkey filter (taken_at, deadline_at)
--   for any values: full, never analyzed
--     Nested Loop semi with a join filter
--       Function Scan
--       Materialize
--         Bitmap Heap Scan listener_offers filter (taken_at)
--           Bitmap Index Scan listener_offers by listener_offers_by_deadline (deadline_at)
--   for any values: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Hash Join semi
--       Function Scan
--       Hash
--         Bitmap Heap Scan listener_offers filter (taken_at)
--           Bitmap Index Scan listener_offers by listener_offers_by_deadline (deadline_at)
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Nested Loop semi with a join filter
--       Function Scan
--       Bitmap Heap Scan listener_offers filter (taken_at)
--         Bitmap Index Scan listener_offers by listener_offers_by_deadline (deadline_at)

-- listener-offers.giveOfferBack: planned each time
prepare "listener-offers.giveOfferBack" (integer, uuid, uuid) as
  update listener_offers set taken_at = null
  where client_key = $1 and listener_id = $2 and id = $3 and outcome is null;
--   always
--     Update listener_offers
--       Index Scan listener_offers by listener_offers_pkey (client_key, listener_id, id) filter (outcome)

-- listener-offers.insertOffer: kept as insert-listener-offer
prepare "listener-offers.insertOffer" (integer, uuid, uuid, uuid, uuid, integer, text[], bytea, timestamp with time zone, timestamp with time zone) as
  with void as (
    delete from listener_offers
    where client_key = $1 and listener_id = $2 and delivery_id = $4)
  insert into listener_offers
  (client_key, listener_id, id, delivery_id, event_id, attempt, headers, body, offered_at,
    deadline_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);
--   for any values: empty, never analyzed; empty, analyzed; empty, analyzed when full; full, never analyzed; full, analyzed
--   for values given: full, never analyzed; full, analyzed
--     Insert listener_offers
--       CTE void: Delete listener_offers
--         Index Scan listener_offers by listener_offers_pkey (client_key, listener_id) filter (delivery_id)
--       Result
--   for any values: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Insert listener_offers
--       CTE void: Delete listener_offers
--         Bitmap Heap Scan listener_offers filter (delivery_id)
--           Bitmap Index Scan listener_offers by listener_offers_pkey (client_key, listener_id)
--       Result

-- listener-offers.takeOffer: kept as take-listener-offer
prepare "listener-offers.takeOffer" (integer, uuid, timestamp with time zone) as
  with first as materialized (
    select id from listener_offers
    where client_key = $1 and listener_id = $2 and taken_at is null and deadline_at > $3
    order by id limit 1 for update skip locked)
  update listener_offers o set taken_at = $3 from first
  where o.client_key = $1 and o.listener_id = $2 and o.id = first.id
  returning o.id, o.delivery_id, o.event_id, o.attempt, o.headers, o.body, o.deadline_at;
--   for any values: empty, never analyzed; empty, analyzed; full, never analyzed
--   for values given: full, never analyzed
--     Update listener_offers
--       CTE first: Limit
--         LockRows
--           Index Scan listener_offers by listener_offers_pkey (client_key, listener_id) filter (taken_at, deadline_at)
--       Nested Loop with a join filter
--         Index Scan listener_offers by listener_offers_pkey (client_key, listener_id)
--         CTE Scan first
--   for any values: empty, analyzed when full; full, analyzed
--   for values given: full, analyzed
--     Update listener_offers
--       CTE first: Limit
--         LockRows
--           Index Scan listener_offers by listener_offers_pkey (client_key, listener_id) filter (taken_at, deadline_at)
--       Nested Loop
--         CTE Scan first
--         Index Scan listener_offers by listener_offers_pkey (client_key, listener_id, id)
--   for any values: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Update listener_offers
--       CTE first: Limit
--         LockRows
--           Sort on listener_offers.id
--             Bitmap Heap Scan listener_offers filter (taken_at, client_key, listener_id)
--               Bitmap Index Scan listener_offers by listener_offers_by_deadline (deadline_at)
--       Nested Loop with a join filter
--         Bitmap Heap Scan listener_offers
--           Bitmap Index Scan listener_offers by listener_offers_pkey (client_key, listener_id)
--         CTE Scan first

-- listener-offers.withdrawOffer: kept as withdraw-listener-offer
prepare "listener-offers.withdrawOffer" (integer, uuid, uuid) as
  delete from listener_offers o
  where o.client_key = $1 and o.listener_id = $2 and o.id = $3
  returning o.id, o.outcome, o.status, o.duration_ms, o.retry_after, o.excerpt, o.taken_at is not null as is_taken;
--   always
--     Delete listener_offers
--       Index Scan listener_offers by listener_offers_pkey (client_key, listener_id, id)

-- listener-offers.withdrawUntaken: planned each time
prepare "listener-offers.withdrawUntaken" (integer[], uuid[], uuid[]) as
  delete from listener_offers o
  using unnest($1::int[], $2::uuid[], $3::uuid[]) as k (client_key, listener_id, id)
  where o.client_key = k.client_key and o.listener_id = k.listener_id and o.id = k.id
  and o.taken_at is null
  returning o.id;
--   always
--     Delete listener_offers
--       Nested Loop
--         Function Scan
--         Index Scan listener_offers by listener_offers_pkey (client_key, listener_id, id) filter (taken_at)
