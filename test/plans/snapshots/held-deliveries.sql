-- The statements of server/store/owed/held-deliveries.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- held-deliveries.readLostLeases: kept as read-lost-leases, hot path
prepare "held-deliveries.readLostLeases" (smallint[], bigint[]) as
  select g.shard, g.epoch from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch)
  where not exists (select from leases l where l.shard = g.shard and l.epoch = g.epoch);
