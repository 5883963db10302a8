-- Listeners: endpoints of one account whose callbacks are not sent but fetched, by whoever develops a
-- receiver behind a firewall. All that is theirs (deliveries, attempts, health) is as for any endpoint.

alter table endpoints
  drop constraint endpoint_kind_is_known,
  add constraint endpoint_kind_is_known
    check (kind in ('subscription', 'webhook', 'listener', 'notice')),
  drop constraint only_a_webhook_has_an_account,
  add constraint only_some_kinds_have_an_account
    check ((kind in ('webhook', 'listener')) = (account_id is not null));

-- When somebody asked last. Written every few seconds at most, while somebody asks.
create table listeners (
  client_key integer not null,
  endpoint_id uuid not null,
  last_polled_at timestamptz not null,
  -- False: it was paused because nobody asked any more, or nobody ever has.
  is_listening boolean not null default false,
  primary key (client_key, endpoint_id)
) with (fillfactor = 50);
-- Who has fallen silent: looked for every few seconds, and for those that are forgotten every hour.
create index listeners_by_poll on listeners (last_polled_at);

-- An attempt at a listener, for as long as it takes: made by the process that owns the shard, taken and
-- answered through whichever process the listener asks. Not logged: after a crash nobody waits for what
-- was offered before it, so losing the table is what is wanted.
create unlogged table listener_offers (
  client_key integer not null,
  listener_id uuid not null,
  id uuid not null,
  -- Null for a test, which is no delivery.
  delivery_id uuid,
  event_id uuid not null,
  attempt integer not null,
  -- Name, value, name, value …
  headers text[] not null,
  -- Null where the event holds it.
  body bytea,
  offered_at timestamptz not null,
  deadline_at timestamptz not null,
  taken_at timestamptz,
  outcome text,
  status smallint,
  duration_ms integer,
  retry_after text,
  excerpt bytea,
  primary key (client_key, listener_id, id),
  constraint only_a_test_brings_its_body check ((delivery_id is null) = (body is not null)),
  constraint only_what_was_taken_is_answered check (outcome is null or taken_at is not null),
  constraint an_outcome_has_a_duration check ((outcome is null) = (duration_ms is null)),
  constraint only_an_answer_has_a_status check ((outcome = 'answered') = (status is not null)),
  constraint offered_excerpt_is_short check (length(excerpt) <= 4096)
);
create index listener_offers_by_deadline on listener_offers (deadline_at);
