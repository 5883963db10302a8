-- Each index of what grows with traffic, with its readers: one whose readers are gone can go. Names of files are
-- those of server/store.

comment on index payments_pkey is 'A payment by its id: payments (locks, reads), accept.';
comment on index payments_newest is
  'Newest first within a client: payment-lists. The oldest of a client: payment-retention.';
comment on index payments_by_external_id is 'By the id that its source gave it: payment-lists (searches).';
comment on index payments_with_document is 'Whether a file is still used: documents, retention.';

comment on index events_pkey is
  'An event by its id: events (bodies), delivery-search, delivery-selections, replays.';
comment on index events_in_feed_order is 'The feed, by position: feed. The newest of a client: documents.';
comment on index events_of_payment is
  'The events of a payment, and through them its deliveries: events, event-spans, erasures.';
comment on index events_with_document is 'Whether a file is still used: documents.';

comment on index pending_deliveries_pkey is
  'A delivery by its id: outcomes, unattempted, parked, cancellations. Newest first within a client: delivery-lists.';
comment on index deliveries_due is 'What is due in a shard: deliveries (readDue).';
comment on index deliveries_of_strand is
  'One payment''s updates at one endpoint, and all that an endpoint is owed: accept (elders), deliveries, outcomes, health.';
comment on index deliveries_parked is 'What waits for its lane in a shard: parked.';

-- Beside the key, which begins with the client: a list of one client and a list of all of them, newest first, need
-- both. Through the key alone the operator's list would take a descent for each client and each day.
comment on index final_deliveries_pkey is
  'Newest first within a client: delivery-lists. A delivery by its id, and the deliveries of an event: delivery-details, replays, vain-attempts.';
comment on index final_deliveries_newest is
  'Newest first across clients, and a delivery by its id alone, for the operator: delivery-lists, delivery-details, replays.';
comment on index final_deliveries_of_endpoint is
  'Newest first of one endpoint: delivery-lists, delivery-details.';
comment on index final_deliveries_exhausted is
  'What was exhausted since the last round of notices: notices. Recovery: delivery-lists.';
comment on index undelivered is 'What did not arrive, across clients: delivery-lists.';
comment on index undelivered_of_client is 'What did not arrive, of one client: delivery-lists.';
comment on index undelivered_of_endpoint is 'What did not arrive, of one endpoint: delivery-lists.';

comment on index earlier_attempts_pkey is 'The attempts of a delivery: delivery-details, erasures.';
