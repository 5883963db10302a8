-- What only grows is vacuumed and analyzed rarely. By default a table is vacuumed whenever a fifth of it is
-- new, and analyzed whenever a tenth of it has changed: for tables to which rows are only added that was a
-- quarter of what PostgreSQL spent on a delivery, and it found nothing to do. The service vacuums and freezes
-- each day once, when it is over (server/upkeep). Dead rows (replays, erasures) bring autovacuum as before, and so
-- does the age of transaction ids, which nothing here switches off.

-- The storage parameters of a partition of `parent`. Analyzed each time that it has doubled, from 100,000 rows on:
-- the statements of the hot path are held to one plan whatever statistics say, and below that any plan will do.
-- Only the audit, which the service does not own and so cannot vacuum, is vacuumed each time that it has doubled.
create function partition_storage(parent regclass) returns text language sql stable as $$
  select 'autovacuum_analyze_threshold = 100000, autovacuum_analyze_scale_factor = 1, '
    || case when relname = 'audit'
      then 'autovacuum_vacuum_insert_threshold = 100000, autovacuum_vacuum_insert_scale_factor = 1'
      else 'autovacuum_vacuum_insert_threshold = -1' end
  from pg_class where oid = parent
$$;

-- As in 0011, with these parameters.
create or replace function ensure_partition(
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
    execute format('create table %I.%I (like %s including all) with (%s)', home, partition, parent,
      partition_storage(parent));
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

-- The same for partitions that are there, which stops neither readers nor writers. Default partitions keep what
-- they have: they should be empty.
do $$
declare
  leaf record;
begin
  for leaf in
    select i.inhrelid::regclass as name, partition_storage(i.inhparent) as storage
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid and c.relkind = 'r' and c.relname not like '%_default'
    where i.inhparent in ('events'::regclass, 'final_deliveries'::regclass,
      'earlier_attempts'::regclass, 'audit'::regclass)
  loop
    execute format('alter table %s set (%s)', leaf.name, leaf.storage);
  end loop;
end $$;

-- Payments have no days. Their index by externalId summarizes new pages by itself (autosummarize).
alter table payments set (
  autovacuum_vacuum_insert_threshold = 100000, autovacuum_vacuum_insert_scale_factor = 1,
  autovacuum_analyze_threshold = 100000, autovacuum_analyze_scale_factor = 1
);
