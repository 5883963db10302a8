-- What server/store/removal/erasures.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- erasures.eraseExcerpts: planned each time
prepare "erasures.eraseExcerpts" (integer, uuid[]) as
  update earlier_attempts set excerpt = null
  where client_key = $1 and delivery_id = any($2::uuid[]) and excerpt is not null
  and at >= timestamptz '2026-03-10T10:51:20.600Z' and at < timestamptz '2026-03-10T11:54:44.201Z';

-- erasures.eraseExcerptsOf200: planned each time
prepare "erasures.eraseExcerptsOf200" (integer, uuid[]) as
  update final_deliveries set excerpt = null
  where client_key = $1 and id = any($2::uuid[]) and excerpt is not null
  and finished_at >= timestamptz '2026-03-03T00:00:00.000Z';

-- erasures.eraseTexts 2: planned each time
prepare "erasures.eraseTexts 2" (text, uuid, integer) as
  update payments set text = '{"id":"' || $2::uuid || '","erasedAt":"' || $1::text || '"'
  || ',"status":{"state":"' || coalesce(text::json -> 'status' ->> 'state', 'DRAFT') || '"}'
  || ',"complete":' || coalesce(text::json ->> 'complete', 'false')
  || ',"createdAt":"' || coalesce(text::json ->> 'createdAt', $1) || '"'
  || coalesce(',"completedAt":"' || (text::json ->> 'completedAt') || '"', '') || '}', document_hash = null
  where id = $2 and client_key = $3 and substr(text, 46, 12) <> '"erasedAt":"';

-- erasures.eraseTexts 3: planned each time
prepare "erasures.eraseTexts 3" (text, uuid, integer, uuid[]) as
  update events set text = '{"id":"' || $2::uuid || '","erasedAt":"' || $1::text || '"'
  || ',"status":{"state":"' || coalesce(text::json -> 'status' ->> 'state', 'DRAFT') || '"}'
  || ',"complete":' || coalesce(text::json ->> 'complete', 'false')
  || ',"createdAt":"' || coalesce(text::json ->> 'createdAt', $1) || '"'
  || coalesce(',"completedAt":"' || (text::json ->> 'completedAt') || '"', '') || '}', document_hash = null, document_bytes = null
  where client_key = $3 and id = any($4::uuid[]) and id >= uuid '019cd77e-a200-0000-0000-000000000000' and id < uuid '019cd77f-8301-0000-0000-000000000000'
  and substr(text, 46, 12) <> '"erasedAt":"';

-- erasures.findDeliveries: planned each time
prepare "erasures.findDeliveries" (integer[], uuid[]) as
  select d.id from (select d.* from (
      select client_key, id as event_id,
      (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
      (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
      from unnest($1::int[], $2::uuid[]) as e (client_key, id) offset 0) as w
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at,
      coalesce(d.is_replay, false) as is_replay, d.finished_at from final_deliveries d
      where d.client_key = w.client_key and d.id between w.low and w.high
      and d.event_id = w.event_id and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' offset 0) as d) as d;

-- erasures.findEvents: planned each time
prepare "erasures.findEvents" (integer, uuid) as
  select id, document_hash from events
  where client_key = $1 and payment_id = $2 and id >= uuid '019cd259-2700-0000-0000-000000000000';

-- erasures.findExcerpts: planned each time
prepare "erasures.findExcerpts" (integer, uuid[]) as
  select delivery_id, at from earlier_attempts
  where client_key = $1 and delivery_id = any($2::uuid[]) and excerpt is not null
  and at >= timestamptz '2026-03-09T10:50:52.800Z';
