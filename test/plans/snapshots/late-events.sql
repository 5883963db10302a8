-- What server/store/proofs/late-events.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- late-events.lookThrough: planned each time, with enable_seqscan = on
prepare "late-events.lookThrough" (integer, bigint, bigint[], uuid[]) as
  select hour, count(*) as looked,
  coalesce(bool_or(place >= ($3::bigint[])[hour]), false) as is_late
  from (select e.place, width_bucket(e.id, $4::uuid[]) as hour from events e
    where e.client_key = $1 and e.place >= $2
    and e.id >= uuid '019cc598-0400-0000-0000-000000000000' and e.id < uuid '019ccabe-6000-0000-0000-000000000000') as newer
  group by 1;

-- late-events.withNewer: planned each time, with enable_seqscan = on
prepare "late-events.withNewer" (integer, uuid[], uuid[], bigint[]) as
  select g.number::int
  from unnest($2::uuid[], $3::uuid[], $4::bigint[]) with ordinality
  as g (low, high, place, number)
  cross join lateral (
    select e.place from events e
    where e.client_key = $1 and e.id >= g.low and e.id < g.high
    and e.id >= uuid '019cc598-0400-0000-0000-000000000000' and e.id < uuid '019cda31-7400-0000-0000-000000000000'
    order by e.place desc, e.sequence desc, e.id desc limit 1) as newest
  where newest.place >= g.place;
