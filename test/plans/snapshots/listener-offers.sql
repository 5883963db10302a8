-- The statements of server/store/endpoints/listener-offers.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- listener-offers.answerOffer: kept as answer-listener-offer
prepare "listener-offers.answerOffer" (integer, uuid, uuid, text, smallint, integer, text, bytea, timestamp with time zone) as
  update listener_offers set outcome = $4, status = $5, duration_ms = $6, retry_after = $7,
  excerpt = $8
  where client_key = $1 and listener_id = $2 and id = $3 and taken_at is not null
  and outcome is null and deadline_at > $9;

-- listener-offers.collectAnswers: kept as collect-listener-answers
prepare "listener-offers.collectAnswers" (integer[], uuid[], uuid[]) as
  delete from listener_offers o
  using unnest($1::int[], $2::uuid[], $3::uuid[]) as k (client_key, listener_id, id)
  where o.client_key = k.client_key and o.listener_id = k.listener_id and o.id = k.id
  and o.outcome is not null
  returning o.id, o.outcome, o.status, o.duration_ms, o.retry_after, o.excerpt;

-- listener-offers.deleteOldOffers: planned each time
prepare "listener-offers.deleteOldOffers" (timestamp with time zone) as
  delete from listener_offers where deadline_at < $1;

-- listener-offers.findOffered: kept as find-offered-listeners
prepare "listener-offers.findOffered" (integer[], uuid[], timestamp with time zone) as
  select k.listener_id from unnest($1::int[], $2::uuid[]) as k (client_key, listener_id)
  where exists (
    select from listener_offers o
    where o.client_key = k.client_key and o.listener_id = k.listener_id
    and o.taken_at is null and o.deadline_at > $3);

-- listener-offers.giveOfferBack: planned each time
prepare "listener-offers.giveOfferBack" (integer, uuid, uuid) as
  update listener_offers set taken_at = null
  where client_key = $1 and listener_id = $2 and id = $3 and outcome is null;

-- listener-offers.insertOffer: kept as insert-listener-offer
prepare "listener-offers.insertOffer" (integer, uuid, uuid, uuid, uuid, integer, text[], bytea, timestamp with time zone, timestamp with time zone) as
  with void as (
    delete from listener_offers
    where client_key = $1 and listener_id = $2 and delivery_id = $4)
  insert into listener_offers
  (client_key, listener_id, id, delivery_id, event_id, attempt, headers, body, offered_at,
    deadline_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- listener-offers.takeOffer: kept as take-listener-offer
prepare "listener-offers.takeOffer" (integer, uuid, timestamp with time zone) as
  with first as materialized (
    select id from listener_offers
    where client_key = $1 and listener_id = $2 and taken_at is null and deadline_at > $3
    order by id limit 1 for update skip locked)
  update listener_offers o set taken_at = $3 from first
  where o.client_key = $1 and o.listener_id = $2 and o.id = first.id
  returning o.id, o.delivery_id, o.event_id, o.attempt, o.headers, o.body, o.deadline_at;

-- listener-offers.withdrawOffer: kept as withdraw-listener-offer
prepare "listener-offers.withdrawOffer" (integer, uuid, uuid) as
  delete from listener_offers o
  where o.client_key = $1 and o.listener_id = $2 and o.id = $3
  returning o.id, o.outcome, o.status, o.duration_ms, o.retry_after, o.excerpt, o.taken_at is not null as is_taken;

-- listener-offers.withdrawUntaken: planned each time
prepare "listener-offers.withdrawUntaken" (integer[], uuid[], uuid[]) as
  delete from listener_offers o
  using unnest($1::int[], $2::uuid[], $3::uuid[]) as k (client_key, listener_id, id)
  where o.client_key = k.client_key and o.listener_id = k.listener_id and o.id = k.id
  and o.taken_at is null
  returning o.id;
