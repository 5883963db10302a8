-- The statements of server/store/history/jobs.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- jobs.countRunningJobs: kept as count-running-jobs
prepare "jobs.countRunningJobs" as
  select count(*) as count from jobs where state = 'RUNNING';
--   always
--     Aggregate
--       Index Only Scan jobs by jobs_running

-- jobs.deleteOldJobs: planned each time
prepare "jobs.deleteOldJobs" (timestamp with time zone) as
  with gone as (delete from jobs where finished_at < $1 returning id)
  delete from job_deliveries where job_id in (select id from gone);
--   for values given: full, never analyzed; full, analyzed when empty
--     Delete job_deliveries
--       CTE gone: Delete jobs
--         Bitmap Heap Scan jobs
--           Bitmap Index Scan jobs by jobs_finished (finished_at)
--       Nested Loop
--         Aggregate
--           CTE Scan gone
--         Index Scan job_deliveries by job_deliveries_pkey (job_id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Delete job_deliveries
--       CTE gone: Delete jobs
--         Index Scan jobs by jobs_finished (finished_at)
--       Nested Loop
--         Aggregate
--           CTE Scan gone
--         Bitmap Heap Scan job_deliveries
--           Bitmap Index Scan job_deliveries by job_deliveries_pkey (job_id)

-- jobs.findJob: kept as find-job
prepare "jobs.findJob" (uuid) as
  select id, kind, state, total, done, passed_over, started_at, finished_at from jobs where id = $1;
--   always
--     Index Scan jobs by jobs_pkey (id)

-- jobs.findLeftJobs: kept as find-left-jobs
prepare "jobs.findLeftJobs" (timestamp with time zone, bigint, timestamp with time zone) as
  select id from jobs where state = 'RUNNING' and (held_until < $1 or held_until > $3)
  order by id limit $2;
--   for any values: empty, never analyzed; empty, analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, never analyzed; full, analyzed when empty
--     Limit
--       Index Scan jobs by jobs_running filter (held_until)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Sort on id
--         Bitmap Heap Scan jobs filter (held_until)
--           Bitmap Index Scan jobs by jobs_running

-- jobs.finishJob: kept as finish-job
prepare "jobs.finishJob" (uuid, timestamp with time zone) as
  update jobs set state = 'DONE', finished_at = $2, runner = null
  where id = $1 and state = 'RUNNING'
  and not exists (select from job_items where job_id = $1);
--   for any values: empty, never analyzed; empty, analyzed; empty, analyzed when full; full, never analyzed; full, analyzed
--   for values given: full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Update jobs
--       InitPlan 1: Index Only Scan job_items by job_items_in_order (job_id)
--       Result
--         Index Scan jobs by jobs_running (id) filter (state)
--   for any values: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Update jobs
--       InitPlan 1: Bitmap Heap Scan job_items
--         Bitmap Index Scan job_items by job_items_in_order (job_id)
--       Result
--         Index Scan jobs by jobs_running (id) filter (state)

-- jobs.holdJob: kept as hold-job
prepare "jobs.holdJob" (uuid, uuid, timestamp with time zone, timestamp with time zone, timestamp with time zone) as
  with free as (
    select id from jobs where id = $1 and state = 'RUNNING'
    and (runner = $2 or held_until < $4 or held_until > $5) for update skip locked)
  update jobs j set runner = $2, held_until = $3
  from free where j.id = free.id
  returning j.id, j.kind, j.state, j.total, j.done, j.passed_over, j.started_at,
  j.finished_at;
--   for any values: empty, never analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Update jobs
--       CTE free: LockRows
--         Index Scan jobs by jobs_running (id) filter (state, runner, held_until)
--       Nested Loop
--         CTE Scan free
--         Index Scan jobs by jobs_pkey (id)
--   for any values: empty, analyzed
--     Update jobs
--       CTE free: LockRows
--         Index Scan jobs by jobs_running (id) filter (state, runner, held_until)
--       Nested Loop with a join filter
--         Index Scan jobs by jobs_pkey
--         CTE Scan free

-- jobs.insertJob: kept as insert-job
prepare "jobs.insertJob" (uuid, text, text, integer, uuid, timestamp with time zone, timestamp with time zone, timestamp with time zone) as
  insert into jobs (id, kind, state, total, runner, held_until, started_at, finished_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8);
--   always
--     Insert jobs
--       Result

-- jobs.listJobs: planned each time
prepare "jobs.listJobs" (bigint, bigint) as
  select all_of_them.total as all_jobs, shown.*
  from (select count(*) as total from jobs) as all_of_them
  left join lateral (
    select id, kind, state, total, done, passed_over, started_at, finished_at from jobs order by id desc limit $1 offset $2) as shown on true
  order by shown.id desc;
--   for values given: full, never analyzed; full, analyzed when empty
--     Sort on jobs_1.id DESC
--       Nested Loop left
--         Aggregate
--           Bitmap Heap Scan jobs
--             Bitmap Index Scan jobs by jobs_pkey
--         Limit
--           Index Scan jobs by jobs_pkey
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on jobs_1.id DESC
--       Nested Loop left
--         Aggregate
--           Index Only Scan jobs by jobs_pkey
--         Limit
--           Index Scan jobs by jobs_pkey

-- jobs.noteFailure: kept as note-job-failure
prepare "jobs.noteFailure" (uuid, integer, timestamp with time zone) as
  with noted as (
    update jobs set failures = failures + 1,
    state = case when failures + 1 >= $2 then 'FAILED' else state end,
    finished_at = case when failures + 1 >= $2 then $3::timestamptz end
    where id = $1 and state = 'RUNNING' returning state
  ), gone as (
    delete from job_items where job_id = $1
    and exists (select from noted where state = 'FAILED'))
  select state from noted;
--   for any values: empty, never analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, never analyzed
--     CTE Scan noted
--       CTE noted: Update jobs
--         Index Scan jobs by jobs_running (id) filter (state)
--       CTE gone: Delete job_items
--         InitPlan 2: CTE Scan noted
--         Result
--           Bitmap Heap Scan job_items
--             Bitmap Index Scan job_items by job_items_in_order (job_id)
--   for any values: empty, analyzed
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     CTE Scan noted
--       CTE noted: Update jobs
--         Index Scan jobs by jobs_running (id) filter (state)
--       CTE gone: Delete job_items
--         InitPlan 2: CTE Scan noted
--         Result
--           Index Scan job_items by job_items_in_order (job_id)

-- jobs.readItems: kept as read-job-items
prepare "jobs.readItems" (uuid, integer, bigint) as
  select client_key, delivery_id, endpoint_id, finished_at::text, place from job_items
  where job_id = $1 and place >= $2 order by place limit $3;
--   always
--     Limit
--       Index Scan job_items by job_items_in_order (job_id, place)

-- jobs.settleItems: kept as settle-job-items
prepare "jobs.settleItems" (uuid, integer[], integer, integer) as
  with gone as (
    delete from job_items where job_id = $1 and place = any($2::int[]))
  update jobs set done = done + $3, passed_over = passed_over + $4, failures = 0
  where id = $1;
--   always
--     Update jobs
--       CTE gone: Delete job_items
--         Index Scan job_items by job_items_in_order (job_id, place)
--       Index Scan jobs by jobs_pkey (id)
