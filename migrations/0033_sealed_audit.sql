-- The audit is sealed: once a minute what was audited becomes a segment, chained to the one before and signed
-- (operations/seal-audit.ts). A role reads it, and nothing else.

-- Segments follow the order of commit, so that no row of a long transaction slips in before what is sealed: the
-- same reasoning, and the same numbers, as the feed's (migrations/0005, 0012). Rows that are there already have
-- the place 0: they come before the first segment and are not sealed.
alter table audit add column place bigint not null default 0;
do $$
declare
  origin feed_origin%rowtype;
begin
  select * into strict origin from feed_origin;
  execute format('alter table audit alter column place set default feed_place(%s, %s)',
    origin.shift, origin.timeline);
end $$;

-- What a minute has written, found again. Rows lie in the table nearly in the order of their places, so a filter of
-- some bytes for each 32 pages is enough, and costs a row nothing. To build it, writers of a partition have to
-- wait: only where that is a moment (docs/operations.md has the statements for a larger month).
create index audit_by_place on only audit using brin (place)
  with (pages_per_range = 32, autosummarize = on);
do $$
declare
  partition regclass;
begin
  for partition in
    select inhrelid::regclass from pg_inherits
    where inhparent = 'audit'::regclass and pg_relation_size(inhrelid) < 64 * 1024 * 1024
  loop
    execute format('create index %I on %s using brin (place) with (pages_per_range = 32, autosummarize = on)',
      partition || '_by_place', partition);
    execute format('alter index audit_by_place attach partition %I', partition || '_by_place');
  end loop;
end $$;

-- For store/feed-origin.ts: the database is in another cluster, whose transaction ids begin again. With the
-- owner's rights, because the service need not own the audit.
create function carry_audit_over(shift bigint, since integer) returns void
language plpgsql security definer set search_path = paybell, pg_temp as $$
begin
  execute format('alter table audit alter column place set default feed_place(%s, %s)', shift, since);
end $$;

-- The seals. A segment holds the rows whose place is from_place or more, and below to_place, in the order of place
-- and id. `digest` covers the digests of its rows, everything beside it here and `previous`.
create table audit_segments (
  segment bigint not null,
  from_place bigint not null,
  to_place bigint not null,
  count integer not null,
  digest bytea not null,
  previous bytea not null,
  sealed_at timestamptz not null,
  jws text not null,
  -- 32 bytes for each row, so that an altered row can be named. Null once retention has dropped the rows.
  row_digests bytea,
  constraint audit_segments_pkey primary key (segment),
  constraint segments_are_numbered_from_1 check (segment >= 1),
  constraint a_segment_has_rows check (count >= 1 and from_place < to_place),
  constraint segment_digests_are_sha256 check (length(digest) = 32 and length(previous) = 32),
  constraint each_row_has_a_digest check (length(row_digests) = 32 * count)
);
create index audit_segments_by_time on audit_segments (sealed_at);

-- Like the audit itself, for everybody: a segment stays as it was made. Its list of rows goes with its rows.
create function refuse_segment_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.row_digests is null
    and row(new.segment, new.from_place, new.to_place, new.count, new.digest, new.previous, new.sealed_at, new.jws)
      = row(old.segment, old.from_place, old.to_place, old.count, old.digest, old.previous, old.sealed_at, old.jws)
  then return new; end if;
  raise exception 'segments of the audit stay as they were made: % is refused', lower(tg_op)
    using errcode = 'insufficient_privilege';
end $$;
create trigger segments_stay before update or delete on audit_segments
  for each row execute function refuse_segment_change();
create trigger all_segments_stay before truncate on audit_segments
  for each statement execute function refuse_segment_change();
alter table audit_segments enable always trigger segments_stay;
alter table audit_segments enable always trigger all_segments_stay;

-- How far sealing has come, and what the last verification by an operator has found.
create table audit_seal_progress (
  is_only boolean not null default true,
  -- The last round, by whichever process.
  checked_at timestamptz not null default '-infinity',
  -- Everything that was audited before this instant is sealed.
  sealed_through timestamptz not null default '-infinity',
  -- When the head was last in a notice.
  head_told_at timestamptz not null default '-infinity',
  verified_at timestamptz,
  verified_from bigint,
  verified_to bigint,
  finding text,
  constraint audit_seal_progress_pkey primary key (is_only),
  constraint sealing_has_one_progress check (is_only)
);
insert into audit_seal_progress default values;

alter table operator_keys drop constraint key_role_is_known;
alter table operator_keys add constraint key_role_is_known
  check (role in ('admin', 'ingest', 'viewer', 'auditor'));
