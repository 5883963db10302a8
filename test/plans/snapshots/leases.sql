-- The statements of server/store/owed/leases.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- leases.forgetProcesses: planned each time, hot path
prepare "leases.forgetProcesses" (uuid[], text[]) as
  select p.id from processes p
  join unnest($1::uuid[], $2::text[]) as g (id, mark)
  on g.id = p.id and g.mark = concat_ws('/', p.beat, extract(epoch from p.seen_at))
  for update of p skip locked;

-- leases.forgetProcesses 2: planned each time, hot path
prepare "leases.forgetProcesses 2" (uuid[]) as
  delete from processes where id = any($1);

-- leases.freeAllLeases: planned each time
prepare "leases.freeAllLeases" as
  update leases set owner = null, beat = beat + 1, expires_at = '-infinity'
  where owner is not null;

-- leases.freeAllLeases 2: planned each time
prepare "leases.freeAllLeases 2" as
  delete from processes;

-- leases.leaveProcesses: planned each time, hot path
prepare "leases.leaveProcesses" (uuid, smallint[]) as
  with gone as (delete from processes where id = $1)
  update leases set owner = null, beat = beat + 1, expires_at = '-infinity'
  where owner = $1 and shard <> all($2::smallint[]);

-- leases.readDatabaseTimeMs: planned each time, hot path
prepare "leases.readDatabaseTimeMs" as
  select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms;

-- leases.readOthers: kept as read-other-leases, hot path
prepare "leases.readOthers" (uuid) as
  select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms,
  (select json_agg(json_build_array(l.shard, l.owner is null, concat_ws('/', l.epoch, l.beat, extract(epoch from l.expires_at))))
    from leases l where l.owner is distinct from $1) as others,
  (select json_agg(json_build_array(p.id, concat_ws('/', p.beat, extract(epoch from p.seen_at))))
    from processes p where p.id <> $1) as processes,
  (select json_agg(json_build_array(p.id, p.sign,
        (select json_agg(l.shard) from leases l
          where l.owner = p.id and not l.is_early)))
    from processes p where p.id <> $1 and p.sign is not null) as signed;

-- leases.releaseLeases: kept as release-leases, hot path
prepare "leases.releaseLeases" (uuid, smallint[], bigint[], bigint[]) as
  update leases set owner = null, beat = beat + 1, expires_at = '-infinity'
  where owner = $1 and (shard, epoch, beat) in (
    select * from unnest($2::smallint[], $3::bigint[], $4::bigint[]));

-- leases.renewOwn: kept as renew-leases, hot path
prepare "leases.renewOwn" (uuid, double precision, smallint[], bigint[]) as
  update leases set expires_at = statement_timestamp() + $2 * interval '1 millisecond', beat = beat + 1,
  is_early = is_early and (shard, epoch) not in (
    select * from unnest($3::smallint[], $4::bigint[]))
  where owner = $1 returning shard, epoch, beat;

-- leases.sayAlive: kept as say-alive, hot path
prepare "leases.sayAlive" (uuid, text, text, bigint, text) as
  insert into processes (id, host, version, started_at, seen_at, sign_turn, sign)
  values ($1, $2, $3, clock_timestamp(), clock_timestamp(), $4, $5)
  on conflict (id) do update set seen_at = excluded.seen_at, beat = processes.beat + 1,
  sign_turn = greatest(processes.sign_turn, excluded.sign_turn),
  sign = case when excluded.sign_turn >= processes.sign_turn
  then excluded.sign else processes.sign end;

-- leases.takeLeases: kept as take-leases, hot path
prepare "leases.takeLeases" (uuid, bigint, double precision, smallint[], text[], smallint[]) as
  update leases set owner = $1, epoch = epoch + 1, beat = beat + 1,
  expires_at = statement_timestamp() + $3 * interval '1 millisecond', is_early = shard = any($6::smallint[])
  where shard in (
    select l.shard from leases l
    where l.owner is null or (l.shard, concat_ws('/', l.epoch, l.beat, extract(epoch from l.expires_at))) in (
      select * from unnest($4::smallint[], $5::text[]))
    order by l.shard limit $2 for update of l skip locked)
  returning shard, epoch, beat;
