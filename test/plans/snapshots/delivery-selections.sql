-- What server/store/history/delivery-selections.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- delivery-selections.readFitRows to cancel: planned each time
prepare "delivery-selections.readFitRows to cancel" (integer[], uuid[], integer[], timestamp with time zone[]) as
  with free as (
    select g.client_key, g.id, g.position, g.finished_at
    from unnest($1::int[], $2::uuid[], $3::int[], $4::timestamptz[])
    as g (client_key, id, position, finished_at)
    where (select true from job_items i
      where i.client_key = g.client_key and i.delivery_id = g.id) is null
    and g.client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED'))) select g.client_key, g.id, p.endpoint_id, null::text as finished_at, g.position
  from free g cross join lateral (
    select p.endpoint_id from pending_deliveries p
    where p.client_key = g.client_key and p.id = g.id limit 1) as p;

-- delivery-selections.readFitRows to replay: planned each time
prepare "delivery-selections.readFitRows to replay" (integer[], uuid[], integer[], timestamp with time zone[]) as
  with free as (
    select g.client_key, g.id, g.position, g.finished_at
    from unnest($1::int[], $2::uuid[], $3::int[], $4::timestamptz[])
    as g (client_key, id, position, finished_at)
    where (select true from job_items i
      where i.client_key = g.client_key and i.delivery_id = g.id) is null
    and g.client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED'))) select g.client_key, g.id, f.endpoint_id, f.finished_at::text, g.position
  from free g cross join lateral (
    select f.endpoint_id, f.finished_at from final_deliveries f
    where f.client_key = g.client_key and f.id = g.id and f.finished_at >= timestamptz '2026-03-10T11:47:30.320Z' and f.finished_at < timestamptz '2026-03-10T11:59:32.321Z'
    and f.finished_at >= g.finished_at and f.finished_at < g.finished_at + interval '1 ms'
    and (select true from endpoints e where e.client_key = f.client_key and e.id = f.endpoint_id
      and e.deleted_at is null)
    and (select true from events v where v.client_key = f.client_key and v.id = f.event_id
      and v.id >= uuid '019cd792-d900-0000-0000-000000000000' and v.id < uuid '019cd79d-d581-0000-0000-000000000000' and substr(v.text, 46, 12) <> '"erasedAt":"')
    limit 1) as f;

-- delivery-selections.readFitRows to retry: planned each time
prepare "delivery-selections.readFitRows to retry" (integer[], uuid[], integer[], timestamp with time zone[]) as
  with free as (
    select g.client_key, g.id, g.position, g.finished_at
    from unnest($1::int[], $2::uuid[], $3::int[], $4::timestamptz[])
    as g (client_key, id, position, finished_at)
    where (select true from job_items i
      where i.client_key = g.client_key and i.delivery_id = g.id) is null
    and g.client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED'))) select g.client_key, g.id, p.endpoint_id, null::text as finished_at, g.position
  from free g cross join lateral (
    select p.endpoint_id from pending_deliveries p
    where p.client_key = g.client_key and p.id = g.id limit 1) as p
  cross join lateral (
    select from endpoints e
    where e.client_key = g.client_key and e.id = p.endpoint_id and e.status = 'ACTIVE' limit 1) as e;
