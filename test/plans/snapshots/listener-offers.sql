-- What server/store/endpoints/listener-offers.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- listener-offers.collectAnswers: kept as collect-listener-answers
prepare "listener-offers.collectAnswers" (integer[], uuid[], uuid[]) as
  delete from listener_offers o
  using unnest($1::int[], $2::uuid[], $3::uuid[]) as k (client_key, listener_id, id)
  where o.client_key = k.client_key and o.listener_id = k.listener_id and o.id = k.id
  and o.outcome is not null
  returning o.id, o.outcome, o.status, o.duration_ms, o.retry_after, o.excerpt;

-- listener-offers.withdrawOffer: kept as withdraw-listener-offer
prepare "listener-offers.withdrawOffer" (integer, uuid, uuid) as
  delete from listener_offers o
  where o.client_key = $1 and o.listener_id = $2 and o.id = $3
  returning o.id, o.outcome, o.status, o.duration_ms, o.retry_after, o.excerpt, o.taken_at is not null as is_taken;
