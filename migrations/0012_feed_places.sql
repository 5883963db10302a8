-- The timeline becomes part of a place in the feed (migrations/0005).
--
-- A place is made of a transaction id. A standby that is promoted without the primary's last transactions
-- gives their ids out again: events written there stood before places that readers had passed, and no
-- reader ever saw them. To notice a promotion takes time, in which events are written. But every promotion,
-- and every return to an earlier point in time, begins a new timeline, whose number is higher, and the
-- write-ahead log tells it from the first record on. So each timeline counts from 2^40 above the one before.
-- The two are added, not joined as bits: places rise over a promotion unless it loses 2^40 transactions.

-- Which timeline is being written now. From the name of the log's file, because the control file learns of a
-- promotion only with the next checkpoint. Fails on a standby, where nothing is written.
create function feed_timeline() returns integer language sql volatile parallel safe as $$
  select ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer
$$;

-- Where a transaction stands: `shift` and `since` are those of feed_origin. A timeline below `since` is
-- another cluster's, in which Paybell has not been started yet (store/feed-origin.ts).
create function place_of(transaction_id bigint, timeline integer, shift bigint, since integer)
  returns bigint language sql immutable parallel safe as $$
  select transaction_id + shift + (greatest(timeline - since, 0)::bigint << 40)
$$;

-- The place of an event that is written now, and the line below which all is settled: side by side, because
-- the one must never come from another server than the other.
-- The first is declared volatile, as what it calls is: only so is it written into the statement, and costs an
-- event 0.8 microseconds instead of 6.
create function feed_place(shift bigint, since integer) returns bigint language sql volatile as $$
  select place_of(greatest(pg_current_xact_id()::text::bigint,
                           pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1),
                  feed_timeline(), shift, since)
$$;
-- This one must be stable: then it sees the snapshot of the statement that reads the rows. A volatile function
-- takes one of its own, in which a transaction may have ended whose rows the statement does not see.
create function feed_horizon(shift bigint, since integer) returns bigint language sql stable as $$
  select place_of(pg_snapshot_xmin(pg_current_snapshot())::text::bigint, feed_timeline(), shift, since)
$$;

-- On the timeline that feed_origin names, places are what they were: the version before reads on.
-- Its function stays as well, since it may still carry a feed over.
do $$
declare
  origin feed_origin%rowtype;
begin
  -- Better here than at the next payment, if this role may not ask for it.
  perform feed_timeline();
  select * into strict origin from feed_origin;
  execute format('alter table events alter column place set default feed_place(%s, %s)',
    origin.shift, origin.timeline);
end $$;
