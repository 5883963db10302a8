-- What server/store/proofs/statement-counts.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- Alike: 2
-- statement-counts.countDelivered: planned each time, with enable_seqscan = on
prepare "statement-counts.countDelivered" (integer, uuid, uuid, uuid, uuid[]) as
  select hour, count(*) as count, array[sum(get_byte(hash, 0)), sum(get_byte(hash, 1)), sum(get_byte(hash, 2)), sum(get_byte(hash, 3)), sum(get_byte(hash, 4)), sum(get_byte(hash, 5)), sum(get_byte(hash, 6)), sum(get_byte(hash, 7)), sum(get_byte(hash, 8)), sum(get_byte(hash, 9)), sum(get_byte(hash, 10)), sum(get_byte(hash, 11)), sum(get_byte(hash, 12)), sum(get_byte(hash, 13)), sum(get_byte(hash, 14)), sum(get_byte(hash, 15)), sum(get_byte(hash, 16)), sum(get_byte(hash, 17)), sum(get_byte(hash, 18)), sum(get_byte(hash, 19)), sum(get_byte(hash, 20)), sum(get_byte(hash, 21)), sum(get_byte(hash, 22)), sum(get_byte(hash, 23)), sum(get_byte(hash, 24)), sum(get_byte(hash, 25)), sum(get_byte(hash, 26)), sum(get_byte(hash, 27)), sum(get_byte(hash, 28)), sum(get_byte(hash, 29)), sum(get_byte(hash, 30)), sum(get_byte(hash, 31))]::float8[] as sums
  from (select width_bucket(d.id, $5::uuid[]) as hour, sha256(convert_to(d.event_id::text, 'UTF8')) as hash
    from final_deliveries d
    where d.client_key = $1 and d.endpoint_id = $2 and d.id >= $3 and d.id < $4 and d.state = 'DELIVERED' and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z'
    offset 0) as delivered
  group by 1;

-- statement-counts.countPending: planned each time, with enable_seqscan = on
prepare "statement-counts.countPending" (integer, uuid, uuid, uuid, uuid[]) as
  select width_bucket(d.id, $5::uuid[]) as hour, count(*) as count from pending_deliveries d
  where d.client_key = $1 and d.endpoint_id = $2 and d.id >= $3 and d.id < $4 group by 1;

-- Alike: 2
-- statement-counts.countUndelivered: planned each time, with enable_seqscan = on
prepare "statement-counts.countUndelivered" (integer, uuid, uuid, uuid, uuid[]) as
  select width_bucket(d.id, $5::uuid[]) as hour, d.state, count(*) as count, max(d.finished_at) as last
  from final_deliveries d
  where d.client_key = $1 and d.endpoint_id = $2 and d.id >= $3 and d.id < $4 and d.state <> 'DELIVERED' and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z'
  group by 1, 2;

-- Alike: 2
-- statement-counts.readReplayed: planned each time, with enable_seqscan = on
prepare "statement-counts.readReplayed" (integer, uuid, uuid, uuid) as
  select d.id, d.event_id, 'PENDING' as state from pending_deliveries d
  cross join lateral (select from earlier_attempts a
    where a.client_key = d.client_key and a.delivery_id = d.id and a.outcome = 'answered'
    and a.status = 200 and a.at >= timestamptz '2026-03-03T00:00:00.000Z' limit 1) as answered
  where d.client_key = $1 and d.endpoint_id = $2 and d.id >= $3 and d.id < $4 and d.is_replay;

-- Alike: 2; 3; 4
-- statement-counts.readUndelivered: planned each time, with enable_seqscan = on
prepare "statement-counts.readUndelivered" (integer, uuid, uuid, uuid) as
  select d.id, d.event_id, d.state from final_deliveries d
  cross join lateral (select from earlier_attempts a
    where a.client_key = d.client_key and a.delivery_id = d.id and a.outcome = 'answered'
    and a.status = 200 and a.at >= timestamptz '2026-03-03T00:00:00.000Z' limit 1) as answered
  where d.client_key = $1 and d.endpoint_id = $2 and d.id >= $3 and d.id < $4 and d.state <> 'DELIVERED'
  and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z';
