-- What server/store/owed/leases.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- leases.forgetProcesses: planned each time, hot path
prepare "leases.forgetProcesses" (uuid[], text[]) as
  select p.id from processes p
  join unnest($1::uuid[], $2::text[]) as g (id, mark)
  on g.id = p.id and g.mark = concat_ws('/', p.beat, extract(epoch from p.seen_at))
  for update of p skip locked;

-- leases.readOthers: kept as read-other-leases, hot path
prepare "leases.readOthers" (uuid) as
  select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms,
  (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint::text as server,
  (select json_agg(json_build_array(l.shard, l.owner is null, concat_ws('/', l.epoch, l.beat, extract(epoch from l.expires_at))))
    from leases l where l.owner is distinct from $1) as others,
  (select json_agg(json_build_array(p.id, concat_ws('/', p.beat, extract(epoch from p.seen_at))))
    from processes p where p.id <> $1) as processes,
  (select json_agg(json_build_array(p.id, p.sign,
        case when p.ended_sign = p.sign then p.ended_for_ms end,
        (select json_agg(l.shard) from leases l
          where l.owner = p.id and not l.is_early),
        (select json_agg(l.shard) from leases l
          where l.owner = p.id and l.is_early)))
    from processes p where p.id <> $1 and p.sign is not null) as signed;

-- leases.renewOwn: kept as renew-leases, hot path
prepare "leases.renewOwn" (uuid, double precision, smallint[], bigint[]) as
  update leases set expires_at = statement_timestamp() + $2 * interval '1 millisecond', beat = beat + 1,
  is_early = is_early and (shard, epoch) not in (
    select * from unnest($3::smallint[], $4::bigint[]))
  where owner = $1 returning shard, epoch, beat;

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
