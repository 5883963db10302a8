-- The statements of server/store/history/stats.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- stats.deleteOldSteps: planned each time
prepare "stats.deleteOldSteps" (timestamp with time zone) as
  delete from attempt_steps where $1::timestamptz - at > step_seconds * interval '200 seconds';

-- stats.readAttemptSteps: kept as read-attempt-steps
prepare "stats.readAttemptSteps" (integer, timestamp with time zone) as
  select at, attempts, delivered, durations from attempt_steps
  where step_seconds = $1 and at >= $2 order by at;

-- stats.readEndedDays: kept as read-ended-days
prepare "stats.readEndedDays" (timestamp with time zone) as
  select day::text as day, state, sum(count)::bigint as count from final_counts
  where day >= ($1::timestamptz at time zone 'UTC')::date
  group by 1, 2 having sum(count) <> 0 order by 1;

-- stats.readFinalCounts: kept as read-final-counts
prepare "stats.readFinalCounts" as
  select state, sum(count)::bigint as count from final_counts group by state;

-- stats.readOwedPicture: kept as read-owed-picture, with enable_seqscan = on
prepare "stats.readOwedPicture" (timestamp with time zone[], timestamp with time zone) as
  with down as materialized (
    select h.client_key, h.endpoint_id from endpoint_health h
    where h.circuit <> 'CLOSED'
    and h.next_probe_at > $2::timestamptz - interval '60000 ms')
  select width_bucket(due_at, $1::timestamptz[]) as bucket, count(*)::int as count,
  min(due_at) as oldest
  from (
    select case when p.next_attempt_at > $2 or not (p.client_key, p.endpoint_id) in (select client_key, endpoint_id from down)
    then p.next_attempt_at end as due_at
    from pending_deliveries p) as owed
  group by 1;

-- stats.readProcesses: kept as read-processes
prepare "stats.readProcesses" as
  select p.id, p.host, p.version, p.started_at, p.seen_at,
  (select array_agg(l.shard order by l.shard) from leases l
    where l.owner = p.id) as shards
  from processes p order by p.started_at, p.id limit 1000;

-- stats.saveAttemptSteps: kept as save-attempt-steps
prepare "stats.saveAttemptSteps" (uuid, integer[], timestamp with time zone[], integer[], integer[], text[]) as
  insert into attempt_steps
  (step_seconds, at, process_id, attempts, delivered, durations)
  select step_seconds, at, $1, attempts, delivered, durations::int[]
  from unnest($2::int[], $3::timestamptz[], $4::int[], $5::int[], $6::text[])
  as s (step_seconds, at, attempts, delivered, durations)
  on conflict (step_seconds, at, process_id) do update set
  attempts = excluded.attempts, delivered = excluded.delivered,
  durations = excluded.durations;

-- stats.sumUpFinalCounts: planned each time
prepare "stats.sumUpFinalCounts" as
  with gone as (delete from final_counts returning day, state, count)
  insert into final_counts (day, state, count)
  select day, state, sum(count) from gone group by day, state having sum(count) <> 0;
