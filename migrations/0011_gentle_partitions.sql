-- Partitions are made one at a time and stop no other session, rows that fell into a default partition
-- are moved out of it, and the database knows which text each migration had.

-- Makes one partition, in the transaction of its caller, and returns how many rows it has taken out of the
-- default partition; null when it was there already. Run beside live traffic:
-- - The table is made by itself and then attached: that stops no writer, and only those readers that look into
--   the default partition. `create table … partition of` locks out all of them.
-- - The call gives up after 200 ms without a lock: a session that waits for one stops all that come after it,
--   and a backup holds its locks for hours. The caller comes back later.
-- - Two callers at once: the name of the table is the lock. The second waits, and finds it there.
-- Rows of its range in the default partition would forbid it for ever, so they move, in the same
-- transaction: a reader sees each of them once, before and after. More than `rows_max` are left where they
-- are, because other sessions wait and the feed stands still for as long as that takes; null is no limit.
create function ensure_partition(
  parent regclass, partition name, lower_bound text, upper_bound text, rows_max bigint
) returns bigint language plpgsql set lock_timeout = '200ms' as $$
declare
  home name;
  rest regclass;
  key name;
  columns text;
  in_range text;
  found_rows bigint := 0;
  moved bigint := 0;
  more bigint;
begin
  select n.nspname, p.partdefid, a.attname into home, rest, key
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_partitioned_table p on p.partrelid = c.oid
  join pg_attribute a on a.attrelid = c.oid and a.attnum = p.partattrs[0]
  where c.oid = parent;

  begin
    execute format('create table %I.%I (like %s including all)', home, partition, parent);
  exception when duplicate_table or unique_violation then
    if not exists (
      select from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = parent and c.relname = partition
    ) then
      raise exception 'table % is there, but is no partition of %: rename it', partition, parent
        using errcode = 'duplicate_table';
    end if;
    return null;
  end;

  if rest <> 0 then
    in_range := format('%I >= %L and %I < %L', key, lower_bound, key, upper_bound);
    execute format('select count(*) from (select from %s where %s limit %s) as one', rest, in_range,
      coalesce((rows_max + 1)::text, 'all')) into found_rows;
    if found_rows > rows_max then
      raise exception '% holds more than % rows of %: run "paybell migrate", which moves any number',
        rest, rows_max, partition using errcode = 'program_limit_exceeded';
    end if;
  end if;
  if found_rows > 0 then
    select string_agg(quote_ident(attname), ', ' order by attnum) into columns from pg_attribute
    where attrelid = parent and attnum > 0 and not attisdropped and attgenerated = '';
    -- Most of them while other sessions go on; then, with those locked out, what came in between.
    for pass in 1..2 loop
      if pass = 2 then execute format('lock table %s in access exclusive mode', rest); end if;
      execute format(
        'with moved as (delete from %1$s where %2$s returning %3$s)
         insert into %4$I.%5$I (%3$s) select %3$s from moved',
        rest, in_range, columns, home, partition);
      get diagnostics more = row_count;
      moved := moved + more;
    end loop;
  end if;
  execute format('alter table %s attach partition %I.%I for values from (%L) to (%L)',
    parent, home, partition, lower_bound, upper_bound);
  return moved;
end $$;

-- The audit goes by months. With its owner's rights: the service itself need not own the audit.
create function ensure_audit_partition(moment timestamptz, rows_max bigint) returns bigint
language plpgsql security definer set search_path = paybell, pg_temp set lock_timeout = '200ms' as $$
declare
  month timestamp := date_trunc('month', moment at time zone 'UTC');
  partition name := 'audit_' || to_char(month, 'YYYY_MM_DD');
  lower_bound uuid := audit_id_floor(month);
  upper_bound uuid := audit_id_floor(month + interval '1 month');
  has_rows boolean;
  moved bigint;
begin
  if to_regclass(partition::text) is not null then return null; end if;
  has_rows := exists (select from audit_default where id >= lower_bound and id < upper_bound);
  if has_rows then
    -- Rows leave the default partition only here, for their own. The guard is lifted in this transaction,
    -- which holds the table: no other session ever sees it without.
    alter table audit_default disable trigger audit_is_append_only;
    execute 'grant update, delete, truncate on audit_default to current_user';
  end if;
  moved := ensure_partition('audit', partition, lower_bound::text, upper_bound::text, rows_max);
  if has_rows then
    alter table audit_default enable always trigger audit_is_append_only;
    execute 'revoke update, delete, truncate on audit_default from current_user';
  end if;
  if moved is not null then perform guard_audit_table(partition::text::regclass); end if;
  return moved;
end $$;

-- For processes of 0.1.0, which call it first in every round of their upkeep and at every start: it waited
-- there for a lock that the consumer of NATS never gave back. A month that cannot be made now is made later.
create or replace function ensure_audit_partitions(moment timestamptz) returns void
language plpgsql security definer set search_path = paybell, pg_temp as $$
begin
  for ahead in 0..2 loop
    begin
      perform ensure_audit_partition(
        (date_trunc('month', moment at time zone 'UTC') + make_interval(months => ahead))
          at time zone 'UTC', 100000);
    exception when others then
      raise warning 'the audit of month +% has no partition yet: %', ahead, sqlerrm;
    end;
  end loop;
end $$;

-- What lies in the default partition of the audit, which the service cannot read by itself: how many rows,
-- counted up to a limit, and the oldest of them.
create function inspect_audit_default(rows_max integer, out rows integer, out oldest uuid)
language sql stable security definer set search_path = paybell, pg_temp as $$
  select (select count(*) from (select from audit_default limit rows_max) as one)::integer,
    (select id from audit_default order by id limit 1)
$$;

-- The SHA-256 of each migration's text, as it was when this database first saw it: a text that has changed
-- since then has made another schema elsewhere than here.
create table migration_hashes (
  name text primary key,
  hash text not null,
  noted_at timestamptz not null,
  constraint migration_hash_is_sha256 check (hash ~ '^[0-9a-f]{64}$')
);
