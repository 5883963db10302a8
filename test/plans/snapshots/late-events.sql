-- The statements of server/store/proofs/late-events.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- late-events.lookThrough: planned each time, with enable_seqscan = on
prepare "late-events.lookThrough" (integer, bigint, bigint[], uuid[]) as
  select hour, count(*) as looked,
  coalesce(bool_or(place >= ($3::bigint[])[hour]), false) as is_late
  from (select e.place, width_bucket(e.id, $4::uuid[]) as hour from events e
    where e.client_key = $1 and e.place >= $2
    and e.id >= uuid '019cc598-0400-0000-0000-000000000000' and e.id < uuid '019ccabe-6000-0000-0000-000000000000') as newer
  group by 1;
--   for values given: full, never analyzed; full, analyzed when empty
--     Aggregate
--       Sort on (width_bucket(e.id, '{019cc598-0400-0000-0000-000000000000,019cc5ce-f280-0000-0000-000000000000,019cc605-e100-0000-0000-000000000000,019cc63c-cf80-0000-0000-000000000000,019cc673-be00-0000-0000-000000000000,019cc6aa-ac80-0000-0000-000000000000,019cc6e1-9b00-0000-0000-000000000000,019cc718-8980-0000-0000-000000000000,019cc74f-7800-0000-0000-000000000000,019cc786-6680-0000-0000-000000000000,019cc7bd-5500-0000-0000-000000000000,019cc7f4-4380-0000-0000-000000000000,019cc82b-3200-0000-0000-000000000000,019cc862-2080-0000-0000-000000000000,019cc899-0f00-0000-0000-000000000000,019cc8cf-fd80-0000-0000-000000000000,019cc906-ec00-0000-0000-000000000000,019cc93d-da80-0000-0000-000000000000,019cc974-c900-0000-0000-000000000000,019cc9ab-b780-0000-0000-000000000000,019cc9e2-a600-0000-0000-000000000000,019cca19-9480-0000-0000-000000000000,019cca50-8300-0000-0000-000000000000,019cca87-7180-0000-0000-000000000000}'::uuid[]))
--         Index Scan events_<day> by events_pkey (client_key, id) filter (place)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Aggregate
--       Index Only Scan events_<day> by events_in_feed_order (client_key, place, id)

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
--   always
--     Nested Loop
--       Function Scan
--       Subquery Scan
--         Limit
--           Merge Append on e.place DESC, e.sequence DESC, e.id DESC
--             Index Only Scan events_<day> by events_in_feed_order (client_key, id)
--             … 4 alike
