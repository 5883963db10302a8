-- Who may act for the operator, and what was done in the operator's name.

-- Keys besides the one of PAYBELL_OPERATOR_KEY. Kept only as an HMAC under the master key named by
-- master_key_id. A revoked key stays: the audit goes on naming it.
create table operator_keys (
  id uuid primary key,
  name text not null,
  role text not null,
  digest bytea not null,
  master_key_id text not null,
  created_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz,
  constraint key_role_is_known check (role in ('admin', 'ingest', 'viewer')),
  constraint key_digest_is_sha256 check (length(digest) = 32)
) with (fillfactor = 50);
-- The audit names actors by the name of their key: at any time a name means one key.
create unique index one_live_key_per_name on operator_keys (name) where revoked_at is null;

-- Every call that changed something for the operator. Append-only. Partitioned by its id, a UUIDv7, so
-- "newest first" is the order of the key, and a month can be archived whole.
create table audit (
  id uuid primary key,
  at timestamptz not null,
  actor text not null,
  action text not null,
  object text not null,
  request_id uuid not null,
  constraint audit_texts_are_short
    check (length(actor) <= 100 and length(action) <= 100 and length(object) <= 200)
) partition by range (id);
create table audit_default partition of audit default;

-- Looking for one object, actor or action. Payments are written by the thousand a second and this table
-- is read once a day: a B-tree on random ids would cost each write a page, these filters next to nothing.
-- 32 pages hold about 2,000 rows.
create index audit_by_value on audit using brin (
  object text_bloom_ops (n_distinct_per_range = 2000),
  actor text_bloom_ops (n_distinct_per_range = 64),
  action text_bloom_ops (n_distinct_per_range = 64)
) with (pages_per_range = 32, autosummarize = on);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit is append-only: % of % is refused', lower(tg_op), tg_table_name
    using errcode = 'insufficient_privilege',
      hint = 'Old months may be archived by the owner of the table: detach their partition.';
end $$;

-- For everybody, the table's owner and superusers too, and under session_replication_role = replica.
-- By statement and not by row: refused even where no row matches. Each partition needs its own, since a
-- statement may name it directly.
create function guard_audit_table(guarded regclass) returns void language plpgsql as $$
begin
  execute format('create trigger audit_is_append_only before update or delete or truncate on %s
    for each statement execute function refuse_audit_change()', guarded);
  execute format('alter table %s enable always trigger audit_is_append_only', guarded);
  -- The trigger is the guard; that not even the owner holds the privilege says so to whoever looks.
  execute format('revoke update, delete, truncate on %s from public, current_user', guarded);
end $$;

select guard_audit_table('audit'), guard_audit_table('audit_default');

-- This month and the next two. With its owner's rights: the service itself need not own the audit.
create function ensure_audit_partitions(moment timestamptz) returns void
language plpgsql security definer set search_path = paybell, pg_temp as $$
declare
  month timestamp;
  partition text;
begin
  for ahead in 0..2 loop
    month := date_trunc('month', moment at time zone 'UTC') + make_interval(months => ahead);
    partition := 'audit_' || to_char(month, 'YYYY_MM_DD');
    if to_regclass(partition) is not null then continue; end if;
    perform pg_advisory_xact_lock(7205759403792796);
    -- Another process may have made it while we waited. Asked of the table itself: the cache behind
    -- to_regclass does not hear of it in time.
    if exists (select from pg_class
      where relname = partition and relnamespace = 'paybell'::regnamespace) then continue; end if;
    execute format('create table %I partition of audit for values from (%L) to (%L)', partition,
      audit_id_floor(month), audit_id_floor(month + interval '1 month'));
    perform guard_audit_table(partition::regclass);
  end loop;
end $$;

-- The smallest UUIDv7 of an instant, as core/uuid makes it.
create function audit_id_floor(utc timestamp) returns uuid language sql immutable as $$
  select rpad(lpad(to_hex((extract(epoch from utc) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;
