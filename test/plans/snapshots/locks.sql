-- What server/store/connection/locks.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1; set paybell.cell = 0;

-- Alike: 2
-- locks.askFor: planned each time
prepare "locks.askFor" as
  select pg_try_advisory_xact_lock(20546 + current_setting('paybell.cell')::int, 5)
  and (current_setting('paybell.cell')::int <> 0 or pg_try_advisory_xact_lock(7205759403792808)) as is_ours;

-- Alike: 2; 3; 4
-- locks.takeLock: planned each time
prepare "locks.takeLock" as
  select pg_advisory_xact_lock(20546 + current_setting('paybell.cell')::int, 3),
  case when current_setting('paybell.cell')::int = 0 then pg_advisory_xact_lock(7205759403792797) end;
