-- What server/store/owed/one-delivery.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- one-delivery.findFinalWithin of a client: planned each time
prepare "one-delivery.findFinalWithin of a client" (uuid, uuid, integer) as
  select f.client_key, f.endpoint_id, f.finished_at::text,
  e.deleted_at is not null as is_deleted,
  exists (select from events v
    where v.client_key = f.client_key and v.id = f.event_id
    and v.id >= uuid '019cd778-7b00-0000-0000-000000000000' and v.id < uuid '019cd778-7b01-0000-0000-000000000000' and substr(v.text, 46, 12) <> '"erasedAt":"') as has_payload
  from final_deliveries f
  join endpoints e on e.client_key = f.client_key and e.id = f.endpoint_id
  where f.id = $1 and f.finished_at >= timestamptz '2026-03-09T11:18:43.200Z'
  and ($2::uuid is null or f.account_id = $2)
  and f.client_key = $3;

-- one-delivery.findFinalWithin of all: planned each time
prepare "one-delivery.findFinalWithin of all" (uuid, uuid) as
  select f.client_key, f.endpoint_id, f.finished_at::text,
  e.deleted_at is not null as is_deleted,
  exists (select from events v
    where v.client_key = f.client_key and v.id = f.event_id
    and v.id >= uuid '019cd778-7b00-0000-0000-000000000000' and v.id < uuid '019cd778-7b01-0000-0000-000000000000' and substr(v.text, 46, 12) <> '"erasedAt":"') as has_payload
  from final_deliveries f
  join endpoints e on e.client_key = f.client_key and e.id = f.endpoint_id
  where f.id = $1 and f.finished_at >= timestamptz '2026-03-09T11:18:43.200Z'
  and ($2::uuid is null or f.account_id = $2)
  and f.finished_at > '-infinity'
  and not exists (select from clients c where c.client_key = f.client_key and c.is_internal);
