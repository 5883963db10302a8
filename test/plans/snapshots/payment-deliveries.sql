-- The statements of server/store/history/payment-deliveries.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- payment-deliveries.countDeliveries: planned each time, with enable_seqscan = on
prepare "payment-deliveries.countDeliveries" (integer[], uuid[]) as
  select d.payment_id, d.state, count(*)::int as count from (select d.* from (
      select client_key, id as event_id,
      (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
      (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
      from unnest($1::int[], $2::uuid[]) as e (client_key, id) offset 0) as w
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at,
      null::timestamptz as finished_at from pending_deliveries d
      where d.client_key = w.client_key and d.id between w.low and w.high
      and d.event_id = w.event_id and true offset 0) as d) as d group by 1, 2;
--   always
--     Aggregate
--       Sort on d.payment_id, ('PENDING'::text)
--         Nested Loop
--           Function Scan
--           Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (event_id)

-- payment-deliveries.countDeliveries 2: planned each time, with enable_seqscan = on
prepare "payment-deliveries.countDeliveries 2" (integer[], uuid[]) as
  select d.payment_id, d.state, count(*)::int as count from (select d.* from (
      select client_key, id as event_id,
      (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
      (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
      from unnest($1::int[], $2::uuid[]) as e (client_key, id) offset 0) as w
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
      where d.client_key = w.client_key and d.id between w.low and w.high
      and d.event_id = w.event_id and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' offset 0) as d) as d group by 1, 2;
--   for values given: full, never analyzed
--     Aggregate
--       Nested Loop
--         Function Scan
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at) filter (event_id)
--           … 7 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, event_id)
--           … 6 alike
--   for values given: full, analyzed
--     Aggregate
--       Nested Loop
--         Function Scan
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, id) filter (finished_at, event_id)
--           … 8 alike
--           Seq Scan final_deliveries_<day> filter (id, finished_at, client_key, event_id)
--           … 5 alike
--   for values given: full, analyzed when empty
--     Aggregate
--       Nested Loop
--         Function Scan
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at) filter (event_id)
--           … 7 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, event_id)
--           Seq Scan final_deliveries_<day> filter (id, finished_at, client_key, event_id)
--           … 5 alike
--   for values given: full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Aggregate
--       Nested Loop
--         Function Scan
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, id) filter (finished_at, event_id)
--           … 7 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, event_id)
--           Seq Scan final_deliveries_<day> filter (id, finished_at, client_key, event_id)
--           … 5 alike

-- payment-deliveries.readNewestEvents: planned each time, with enable_seqscan = on
prepare "payment-deliveries.readNewestEvents" (integer, uuid[], bigint) as
  select k.payment_id, e.id from unnest($2::uuid[]) as k (payment_id)
  cross join lateral (
    select e.id from events e
    where e.client_key = $1 and e.payment_id = k.payment_id
    and e.id >= uuid '019cb0fe-9400-0000-0000-000000000000'
    order by e.sequence desc limit $3) as e;
--   for values given: full, never analyzed
--     Nested Loop
--       Function Scan unnest
--       Limit
--         Merge Append on e.sequence DESC
--           Index Scan events_<day> by events_of_payment (client_key, payment_id) filter (id)
--           … 13 alike
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Nested Loop
--       Function Scan unnest
--       Limit
--         Sort on e.sequence DESC
--           Append
--             Index Scan events_<day> by events_of_payment (client_key, payment_id) filter (id)
--             … 8 alike
--             Seq Scan events_<day> filter (id, client_key, payment_id)
--             … 5 alike
