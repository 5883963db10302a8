-- The statements of server/store/proofs/feed-marks.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- feed-marks.deleteMarksAhead: planned each time
prepare "feed-marks.deleteMarksAhead" (timestamp with time zone) as
  delete from feed_marks where at > $1;

-- feed-marks.deleteOldMarks: planned each time
prepare "feed-marks.deleteOldMarks" (timestamp with time zone) as
  delete from feed_marks where at < $1;

-- feed-marks.markFeed: kept as has-mark
prepare "feed-marks.markFeed" (timestamp with time zone, timestamp with time zone) as
  select exists (select from feed_marks where at > $1 and at <= $2) as has,
  exists (select from feed_marks where at > $2) as is_ahead;

-- feed-marks.markFeed 2: kept as mark-feed
prepare "feed-marks.markFeed 2" (timestamp with time zone, bigint) as
  insert into feed_marks (at, place) values ($1, $2) on conflict do nothing;

-- feed-marks.readEndedSinceMs: kept as read-ended-since
prepare "feed-marks.readEndedSinceMs" as
  select ended_since from feed_origin;

-- feed-marks.readSettled: kept as read-settled, with enable_seqscan = on
prepare "feed-marks.readSettled" (bigint, timestamp with time zone) as
  select o.ended_since, (select m.at from feed_marks m
    where m.place <= $1::bigint and m.at <= $2::timestamptz order by m.at desc limit 1) as at
  from feed_origin o;
