-- The statements of server/store/history/feed.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- feed.findEvent: planned each time
prepare "feed.findEvent" (integer, uuid, uuid) as
  select kind, sequence, text, document_hash from events
  where client_key = $1 and id = $2 and ($3::uuid is null or account_id = $3);
--   always
--     Index Scan events_<day> by events_pkey (client_key, id)

-- feed.readLine: kept as read-feed-origin, with enable_seqscan = on
prepare "feed.readLine" as
  select kept_since, shift::text, timeline,
  array(select day - date '1970-01-01' from late_days) as late
  from feed_origin;
--   always
--     Seq Scan feed_origin
--       InitPlan 1: Seq Scan late_days

-- feed.readStretch: planned each time, with enable_seqscan = on
prepare "feed.readStretch" (integer, bigint, integer, uuid, bigint) as
  select id, payment_id, account_id, sequence, kind, created_at, text, place::text
  from events
  where client_key = $1 and (place, sequence, id) > ($2::bigint, $3::int, $4::uuid)
  and id < uuid '019cb0fe-9400-0000-0000-000000000000' and substr(text, 46, 12) <> '"erasedAt":"'
  order by events.place, sequence, id limit $5;
--   for values given: full, never analyzed; full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Merge Append on events.place, events.sequence, events.id
--         Index Scan events_<day> by events_in_feed_order (client_key, place, sequence, id) filter (text)
--         … 4 alike
--   for values given: full, analyzed when empty
--     Limit
--       Sort on events.place, events.sequence, events.id
--         Append
--           Index Scan events_<day> by events_in_feed_order (client_key, place, sequence, id) filter (text)
--           … 3 alike
--           Seq Scan events_<day> filter (id, client_key, text, place, sequence)
