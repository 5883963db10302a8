-- What server/store/owed/late-successes.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- late-successes.findRecorded: planned each time, hot path
prepare "late-successes.findRecorded" (integer[], uuid[], integer[], timestamp with time zone[]) as
  select m.id from unnest($1::int[], $2::uuid[], $3::int[], $4::timestamptz[])
  as m (client_key, id, attempt, at)
  cross join lateral (
    select from final_deliveries f
    where f.client_key = m.client_key and f.id = m.id and f.state = 'DELIVERED'
    and f.attempts = m.attempt and f.attempted_at = m.at
    and f.finished_at >= timestamptz '2026-03-09T11:59:59.900Z'
    limit 1) as known;

-- late-successes.recordLateSuccesses: planned each time, hot path
prepare "late-successes.recordLateSuccesses" (smallint[], bigint[], integer[], uuid[], smallint[], bigint[], integer[], timestamp with time zone[], integer[], bytea[]) as
  with given as (
    select * from unnest($3::int[], $4::uuid[], $5::smallint[], $6::bigint[], $7::int[], $8::timestamptz[], $9::int[], $10::bytea[])
    as g (client_key, id, shard, epoch, attempt, at, duration_ms, excerpt)), held as (
    select l.* from (
      select * from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch) order by shard) as g
    cross join lateral (
      select l.shard, l.epoch from leases l where l.shard = g.shard and l.epoch = g.epoch
      for key share of l) as l), mine as (
    select * from given where (shard, epoch) in (select shard, epoch from held))
  insert into earlier_attempts
  (client_key, delivery_id, attempt, at, duration_ms, outcome, status, excerpt)
  select client_key, id, attempt, at, duration_ms, 'answered', 200, excerpt from mine
  on conflict do nothing;
