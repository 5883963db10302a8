-- The statements of server/store/payments/event-traces.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- event-traces.deleteOldEventTraces: planned each time
prepare "event-traces.deleteOldEventTraces" (timestamp with time zone) as
  delete from event_traces where created_at < $1;
--   always
--     Delete event_traces
--       Index Scan event_traces by event_traces_by_age (created_at)

-- event-traces.readEventTrace: kept as read-event-trace, hot path
prepare "event-traces.readEventTrace" (integer, uuid) as
  select traceparent from event_traces where client_key = $1 and event_id = $2;
--   always
--     Index Scan event_traces by event_traces_pkey (client_key, event_id)

-- event-traces.saveEventTraces: kept as save-event-traces, hot path
prepare "event-traces.saveEventTraces" (integer[], uuid[], text, timestamp with time zone) as
  insert into event_traces (client_key, event_id, traceparent, created_at)
  select client_key, event_id, $3, $4
  from unnest($1::int[], $2::uuid[]) as e (client_key, event_id)
  on conflict do nothing;
--   always
--     Insert event_traces
--       Function Scan
