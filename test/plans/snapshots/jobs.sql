-- What server/store/history/jobs.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- jobs.findJob: kept as find-job
prepare "jobs.findJob" (uuid) as
  select id, kind, state, total, done, passed_over, started_at, finished_at from jobs where id = $1;

-- jobs.listJobs: planned each time
prepare "jobs.listJobs" (bigint, bigint) as
  select all_of_them.total as all_jobs, shown.*
  from (select count(*) as total from jobs) as all_of_them
  left join lateral (
    select id, kind, state, total, done, passed_over, started_at, finished_at from jobs order by id desc limit $1 offset $2) as shown on true
  order by shown.id desc;
