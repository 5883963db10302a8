-- Statements of completeness: hours of an endpoint that are final are counted once and kept.

-- A row is narrow, and there is one for each hour that was asked for and is final: a month of an endpoint is 744
-- rows, read along the key. `reopened` counts the deliberate acts (replay, recovery) that have made something of
-- the hour pending again: each empties the row, and who has counted before it must not keep what it has counted.
create table statement_hours (
  client_key integer not null,
  endpoint_id uuid not null,
  hour timestamptz not null,
  reopened integer not null default 0,
  delivered integer,
  superseded integer,
  exhausted integer,
  cancelled integer,
  ids_digest bytea,
  primary key (client_key, endpoint_id, hour),
  constraint an_hour_begins_on_the_hour check (extract(epoch from hour) % 3600 = 0),
  constraint a_kept_hour_is_whole
    check (num_nonnulls(delivered, superseded, exhausted, cancelled, ids_digest) in (0, 5)),
  constraint ids_digest_has_256_bits check (length(ids_digest) = 32)
);
-- For upkeep, which deletes the oldest.
create index statement_hours_by_age on statement_hours (hour);

-- Places of the feed (migrations/0012) with the time at which they were given out: what had begun to write by then
-- has ended when the feed's horizon has passed the place.
create table feed_marks (
  at timestamptz primary key,
  place bigint not null
);

-- Deliveries that ended on days before this one are gone: an hour before it can no longer be counted.
alter table feed_origin add column ended_since timestamptz not null default '-infinity';
update feed_origin set ended_since = kept_since;
