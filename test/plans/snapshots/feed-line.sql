-- The statements of server/store/proofs/feed-line.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- feed-line.readFeedOrigin: kept as read-origin
prepare "feed-line.readFeedOrigin" as
  select shift::text, timeline from feed_origin;
--   always
--     Seq Scan feed_origin

-- feed-line.readSettledLine: kept as read-settled-line, with enable_seqscan = on
prepare "feed-line.readSettledLine" as
  select feed_horizon(0, feed_timeline())::text as "transactionId",
  feed_timeline() as timeline;
--   always
--     Result

-- feed-line.readUpperLine: kept as read-upper-line
prepare "feed-line.readUpperLine" (bigint, integer) as
  select place_of(pg_snapshot_xmax(pg_current_snapshot())::text::bigint, feed_timeline(),
    $1::bigint, $2::integer)::text as place;
--   always
--     Result

-- feed-line.takePlace: kept as take-place
prepare "feed-line.takePlace" (bigint, integer) as
  select place_of(pg_current_xact_id()::text::bigint, feed_timeline(), $1::bigint,
    $2::integer)::text as place;
--   always
--     Result
