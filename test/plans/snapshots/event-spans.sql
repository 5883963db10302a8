-- The statements of server/store/history/event-spans.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- event-spans.readEventsOf: planned each time, with enable_seqscan = on
prepare "event-spans.readEventsOf" (integer[], uuid[], uuid, bigint) as
  select e.client_key, e.id
  from unnest($1::int[], $2::uuid[]) as k (client_key, payment_id)
  cross join lateral (
    select e.client_key, e.id from events e
    where e.client_key = k.client_key and e.payment_id = k.payment_id
    and ($3::uuid is null or e.id <= $3) and e.id >= uuid '019cb0fe-9400-0000-0000-000000000000' offset 0) as e
  -- With ties: what is looked at are whole milliseconds.
  order by left(e.id::text, 13) desc fetch first $4 rows with ties;
--   for values given: full, never analyzed
--     Limit
--       Sort on ("left"((e.id)::text, 13)) DESC
--         Nested Loop
--           Function Scan
--           Append
--             Index Scan events_<day> by events_of_payment (client_key, payment_id) filter (id)
--             … 13 alike
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Sort on ("left"((e.id)::text, 13)) DESC
--         Nested Loop
--           Function Scan
--           Append
--             Index Scan events_<day> by events_of_payment (client_key, payment_id) filter (id)
--             … 8 alike
--             Seq Scan events_<day> filter (id, client_key, payment_id)
--             … 5 alike

-- event-spans.readFirstAcceptedMs: planned each time, with enable_seqscan = on
prepare "event-spans.readFirstAcceptedMs" (integer[], uuid[]) as
  select count(*)::int as count, min(p.accepted_at) as first
  from unnest($1::int[], $2::uuid[]) as k (client_key, payment_id)
  join payments p on p.id = k.payment_id and p.client_key = k.client_key;
--   for values given: full, never analyzed; full, analyzed when empty
--     Aggregate
--       Nested Loop
--         Function Scan
--         Index Scan payments by payments_pkey (id, client_key)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Aggregate
--       Nested Loop
--         Function Scan
--         Index Only Scan payments by payments_newest (client_key, id)
