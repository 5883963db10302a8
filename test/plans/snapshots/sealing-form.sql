-- The statements of server/store/secrets/sealing-form.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- sealing-form.beginDerivedKeys: planned each time
prepare "sealing-form.beginDerivedKeys" (text, double precision) as
  with others as (
    select distinct version from processes
    where version <> $1 and seen_at > clock_timestamp() - $2 * interval '1 millisecond'
  ), begun as (
    update sealing set is_derived = true
    where not is_derived and not exists (select from others)
  )
  select version from others order by version;
--   for values given: full, never analyzed; full, analyzed when empty
--     Sort on others.version
--       CTE others: Aggregate
--         Seq Scan processes filter (version, seen_at)
--       CTE begun: Update sealing
--         InitPlan 2: CTE Scan others
--         Result
--           Seq Scan sealing filter (is_derived)
--       CTE Scan others
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     CTE Scan others
--       CTE others: Unique
--         Sort on processes.version
--           Seq Scan processes filter (version, seen_at)
--       CTE begun: Update sealing
--         InitPlan 2: CTE Scan others
--         Result
--           Seq Scan sealing filter (is_derived)

-- sealing-form.readSealingForm: kept as read-sealing-form
prepare "sealing-form.readSealingForm" as
  select is_derived from sealing;
--   always
--     Seq Scan sealing
