-- The statements of server/store/history/jobs.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- jobs.countRunningJobs: kept as count-running-jobs
prepare "jobs.countRunningJobs" as
  select count(*) as count from jobs where state = 'RUNNING';

-- jobs.deleteOldJobs: planned each time
prepare "jobs.deleteOldJobs" (timestamp with time zone) as
  with gone as (delete from jobs where finished_at < $1 returning id)
  delete from job_deliveries where job_id in (select id from gone);

-- jobs.findJob: kept as find-job
prepare "jobs.findJob" (uuid) as
  select id, kind, state, total, done, passed_over, started_at, finished_at from jobs where id = $1;

-- jobs.findLeftJobs: kept as find-left-jobs
prepare "jobs.findLeftJobs" (timestamp with time zone, bigint, timestamp with time zone) as
  select id from jobs where state = 'RUNNING' and (held_until < $1 or held_until > $3)
  order by id limit $2;

-- jobs.finishJob: kept as finish-job
prepare "jobs.finishJob" (uuid, timestamp with time zone) as
  update jobs set state = 'DONE', finished_at = $2, runner = null
  where id = $1 and state = 'RUNNING'
  and not exists (select from job_items where job_id = $1);

-- jobs.holdJob: kept as hold-job
prepare "jobs.holdJob" (uuid, uuid, timestamp with time zone, timestamp with time zone, timestamp with time zone) as
  with free as (
    select id from jobs where id = $1 and state = 'RUNNING'
    and (runner = $2 or held_until < $4 or held_until > $5) for update skip locked)
  update jobs j set runner = $2, held_until = $3
  from free where j.id = free.id
  returning j.id, j.kind, j.state, j.total, j.done, j.passed_over, j.started_at,
  j.finished_at;

-- jobs.insertJob: kept as insert-job
prepare "jobs.insertJob" (uuid, text, text, integer, uuid, timestamp with time zone, timestamp with time zone, timestamp with time zone) as
  insert into jobs (id, kind, state, total, runner, held_until, started_at, finished_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8);

-- jobs.listJobs: planned each time
prepare "jobs.listJobs" (bigint, bigint) as
  select all_of_them.total as all_jobs, shown.*
  from (select count(*) as total from jobs) as all_of_them
  left join lateral (
    select id, kind, state, total, done, passed_over, started_at, finished_at from jobs order by id desc limit $1 offset $2) as shown on true
  order by shown.id desc;

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

-- jobs.readItems: kept as read-job-items
prepare "jobs.readItems" (uuid, integer, bigint) as
  select client_key, delivery_id, endpoint_id, finished_at::text, place from job_items
  where job_id = $1 and place >= $2 order by place limit $3;

-- jobs.settleItems: kept as settle-job-items
prepare "jobs.settleItems" (uuid, integer[], integer, integer) as
  with gone as (
    delete from job_items where job_id = $1 and place = any($2::int[]))
  update jobs set done = done + $3, passed_over = passed_over + $4, failures = 0
  where id = $1;
