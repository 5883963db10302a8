-- The event feed: a place for every event in one order that never changes behind a reader.
--
-- A place must be final when a reader passes it, although transactions commit in any order, in many
-- processes, and some stay open for hours. So it is made of transaction ids: `place` is never below
-- the id of the transaction that wrote the row, and readers stop below the oldest transaction that is
-- still running. Everything under that line is settled. It is not below the newest transaction that had
-- ended when the row was written either: whoever writes update 2 of a payment has waited for update 1 to
-- commit, so update 2 never stands before it, not even out of a transaction that began long before.
--
-- The shift is a constant in the column's default. It is nought until the database finds itself in
-- another cluster, whose transaction ids begin anew (a dump that was restored): see store/feed-origin.ts.
create function feed_place(shift bigint) returns bigint language sql stable parallel safe as $$
  select greatest(pg_current_xact_id()::text::bigint,
                  pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1) + shift
$$;

-- Events that are there already share one place, and stand in the order of their ids within it.
alter table events add column place bigint not null default feed_place(0);
-- Of one place, a payment's updates still come in sequence.
create index events_in_feed_order on events (client_key, place, sequence, id);

-- Which cluster the places were made in, and what has been dropped.
create table feed_origin (
  is_only boolean primary key default true,
  system_identifier bigint not null,
  timeline integer not null,
  shift bigint not null,
  -- Events of days before this one are gone: a reader that has not passed it has missed some.
  kept_since timestamptz not null,
  constraint feed_has_one_origin check (is_only)
);
insert into feed_origin (system_identifier, timeline, shift, kept_since)
select s.system_identifier, c.timeline_id, 0, '-infinity'
from pg_control_system() s, pg_control_checkpoint() c;

-- Receivers that are being checked now: one check at a time for each endpoint, whichever process runs it.
create table receiver_checks (
  client_key integer not null,
  endpoint_id uuid not null,
  started_at timestamptz not null,
  primary key (client_key, endpoint_id)
);
