-- The statements of server/store/proofs/feed-line.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- feed-line.readFeedOrigin: kept as read-origin
prepare "feed-line.readFeedOrigin" as
  select shift::text, timeline from feed_origin;

-- feed-line.readSettledLine: kept as read-settled-line, with enable_seqscan = on
prepare "feed-line.readSettledLine" as
  select feed_horizon(0, feed_timeline())::text as "transactionId",
  feed_timeline() as timeline;

-- feed-line.readUpperLine: kept as read-upper-line
prepare "feed-line.readUpperLine" (bigint, integer) as
  select place_of(pg_snapshot_xmax(pg_current_snapshot())::text::bigint, feed_timeline(),
    $1::bigint, $2::integer)::text as place;

-- feed-line.takePlace: kept as take-place
prepare "feed-line.takePlace" (bigint, integer) as
  select place_of(pg_current_xact_id()::text::bigint, feed_timeline(), $1::bigint,
    $2::integer)::text as place;
