-- The statements of server/store/proofs/feed-marks.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- feed-marks.deleteMarksAhead: planned each time
prepare "feed-marks.deleteMarksAhead" (timestamp with time zone) as
  delete from feed_marks where at > $1;
--   always
--     Delete feed_marks
--       Index Scan feed_marks by feed_marks_pkey (at)

-- feed-marks.deleteOldMarks: planned each time
prepare "feed-marks.deleteOldMarks" (timestamp with time zone) as
  delete from feed_marks where at < $1;
--   always
--     Delete feed_marks
--       Index Scan feed_marks by feed_marks_pkey (at)

-- feed-marks.markFeed: kept as has-mark
prepare "feed-marks.markFeed" (timestamp with time zone, timestamp with time zone) as
  select exists (select from feed_marks where at > $1 and at <= $2) as has,
  exists (select from feed_marks where at > $2) as is_ahead;
--   always
--     Result
--       InitPlan 1: Index Only Scan feed_marks by feed_marks_pkey (at)
--       InitPlan 2: Index Only Scan feed_marks by feed_marks_pkey (at)

-- feed-marks.markFeed 2: kept as mark-feed
prepare "feed-marks.markFeed 2" (timestamp with time zone, bigint) as
  insert into feed_marks (at, place) values ($1, $2) on conflict do nothing;
--   always
--     Insert feed_marks
--       Result

-- feed-marks.readEndedSinceMs: kept as read-ended-since
prepare "feed-marks.readEndedSinceMs" as
  select ended_since from feed_origin;
--   always
--     Seq Scan feed_origin

-- feed-marks.readSettled: kept as read-settled, with enable_seqscan = on
prepare "feed-marks.readSettled" (bigint, timestamp with time zone) as
  select o.ended_since, (select m.at from feed_marks m
    where m.place <= $1::bigint and m.at <= $2::timestamptz order by m.at desc limit 1) as at
  from feed_origin o;
--   for any values: empty, never analyzed; full, never analyzed
--   for values given: full, never analyzed
--     Seq Scan feed_origin
--       InitPlan 1: Limit
--         Index Scan feed_marks by feed_marks_pkey (at) filter (place)
--   for any values: empty, analyzed; empty, analyzed when full; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Seq Scan feed_origin
--       InitPlan 1: Limit
--         Sort on m.at DESC
--           Seq Scan feed_marks filter (place, at)
