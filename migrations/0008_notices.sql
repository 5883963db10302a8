-- Notices to the operator are events and deliveries like any other. They belong to a client of
-- Paybell's own, which nobody can log in as and no list shows, and go to its one endpoint.

alter table clients add column is_internal boolean not null default false;
create unique index one_internal_client on clients (is_internal) where is_internal;

alter table endpoints
  drop constraint endpoint_kind_is_known,
  add constraint endpoint_kind_is_known check (kind in ('subscription', 'webhook', 'notice'));
create unique index one_notice_endpoint on endpoints (client_key)
  where kind = 'notice' and deleted_at is null;
-- Who is disabled now: few, looked for every minute.
create index endpoints_disabled on endpoints (client_key, id)
  where status = 'DISABLED' and deleted_at is null;

-- Who is failing, and since when: few of many.
create index endpoints_failing on endpoint_health (failing_since) where failing_since is not null;

-- Exhausted deliveries are rare: a small index beside a large history.
create index final_deliveries_exhausted on final_deliveries (finished_at, client_key, endpoint_id)
  where state = 'EXHAUSTED';

-- What the operator has been told of an endpoint. A row is there from its first notice on.
create table endpoint_notices (
  client_key integer not null,
  endpoint_id uuid not null,
  -- The number of its last notice: notices of one endpoint arrive in order, like updates of a payment.
  sequence integer not null default 0,
  -- The beginning of the failures that were told of, and how many times: after 1 h, 1 d, 3 d, 6 d.
  failing_since timestamptz,
  failing_told smallint not null default 0,
  disabled_since timestamptz,
  -- Exhausted deliveries: in all, those not told of yet, and when some were told of last.
  exhausted_total bigint not null default 0,
  exhausted_untold integer not null default 0,
  exhausted_told_at timestamptz,
  primary key (client_key, endpoint_id),
  constraint what_is_told_has_a_beginning check ((failing_told > 0) = (failing_since is not null))
);
create index endpoints_told_failing on endpoint_notices (client_key, endpoint_id)
  where failing_since is not null;
create index endpoints_with_untold on endpoint_notices (client_key, endpoint_id)
  where exhausted_untold > 0;

-- Exhausted deliveries that ended until here are in the counts above. One row, or none.
create table notice_progress (
  is_only boolean primary key default true,
  exhausted_until timestamptz not null,
  constraint there_is_only_one check (is_only)
);

-- The trace in which an event was accepted, so that an attempt days later can link to it. Written only
-- while somebody traces, and only for what is sampled.
create table event_traces (
  client_key integer not null,
  event_id uuid not null,
  traceparent text not null,
  created_at timestamptz not null,
  primary key (client_key, event_id),
  constraint traceparent_has_its_form check (length(traceparent) = 55)
);
create index event_traces_by_age on event_traces (created_at);
