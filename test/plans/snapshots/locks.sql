-- The statements of server/store/connection/locks.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1; set paybell.cell = 0;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- locks.askFor: planned each time
prepare "locks.askFor" as
  select pg_try_advisory_xact_lock(20546 + current_setting('paybell.cell')::int, 5)
  and (current_setting('paybell.cell')::int <> 0 or pg_try_advisory_xact_lock(7205759403792808)) as is_ours;
--   always
--     Result

-- locks.askFor 2: planned each time
prepare "locks.askFor 2" as
  select pg_try_advisory_xact_lock(20546 + current_setting('paybell.cell')::int, 2)
  and (current_setting('paybell.cell')::int <> 0 or pg_try_advisory_xact_lock(7205759403792797)) as is_ours;
--   always
--     Result

-- locks.takeLock: planned each time
prepare "locks.takeLock" as
  select pg_advisory_xact_lock(20546 + current_setting('paybell.cell')::int, 3),
  case when current_setting('paybell.cell')::int = 0 then pg_advisory_xact_lock(7205759403792797) end;
--   always
--     Result

-- locks.takeLock 2: planned each time
prepare "locks.takeLock 2" as
  select pg_advisory_xact_lock(20546 + current_setting('paybell.cell')::int, 4),
  case when current_setting('paybell.cell')::int = 0 then pg_advisory_xact_lock(7306914) end;
--   always
--     Result

-- locks.takeLock 3: planned each time
prepare "locks.takeLock 3" as
  select pg_advisory_xact_lock(20546 + current_setting('paybell.cell')::int, 5),
  case when current_setting('paybell.cell')::int = 0 then pg_advisory_xact_lock(7205759403792808) end;
--   always
--     Result
