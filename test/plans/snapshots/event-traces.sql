-- The statements of server/store/payments/event-traces.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- event-traces.deleteOldEventTraces: planned each time
prepare "event-traces.deleteOldEventTraces" (timestamp with time zone) as
  delete from event_traces where created_at < $1;

-- event-traces.readEventTrace: kept as read-event-trace, hot path
prepare "event-traces.readEventTrace" (integer, uuid) as
  select traceparent from event_traces where client_key = $1 and event_id = $2;

-- event-traces.saveEventTraces: kept as save-event-traces, hot path
prepare "event-traces.saveEventTraces" (integer[], uuid[], text, timestamp with time zone) as
  insert into event_traces (client_key, event_id, traceparent, created_at)
  select client_key, event_id, $3, $4
  from unnest($1::int[], $2::uuid[]) as e (client_key, event_id)
  on conflict do nothing;
