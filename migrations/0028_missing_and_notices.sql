-- Deliveries of what an endpoint was never owed, and notices for clients.

-- To make what an endpoint is missing is a job as a bulk replay is. All rows conform already: the check is not run
-- over them.
alter table jobs drop constraint job_kind_is_known;
alter table jobs add constraint job_kind_is_known
  check (kind in ('replay', 'recover', 'cancel', 'retry', 'replay-missing')) not valid;
alter table jobs validate constraint job_kind_is_known;

-- Where a client gets notices about its own endpoints. It belongs to Paybell's own client, as the operator's does: no
-- list, feed or count of the client shows what goes there, and it makes no notices about itself. Its scope is the id of
-- the client that it is for, which no account has.
alter table endpoints
  drop constraint endpoint_kind_is_known,
  add constraint endpoint_kind_is_known
    check (kind in ('subscription', 'webhook', 'listener', 'notice', 'client-notice')) not valid,
  drop constraint only_some_kinds_have_an_account,
  add constraint only_some_kinds_have_an_account
    check ((kind in ('webhook', 'listener', 'client-notice')) = (account_id is not null)) not valid;
alter table endpoints
  validate constraint endpoint_kind_is_known, validate constraint only_some_kinds_have_an_account;
create unique index one_client_notice_endpoint on endpoints (client_key, scope)
  where kind = 'client-notice' and deleted_at is null;

-- What a client has been notified of, of each of its endpoints: as endpoint_notices is for the operator (0008), because
-- the two are notified at other times.
create table client_endpoint_notices (
  client_key integer not null,
  endpoint_id uuid not null,
  sequence integer not null default 0,
  failing_since timestamptz,
  failing_told smallint not null default 0,
  disabled_since timestamptz,
  exhausted_total bigint not null default 0,
  exhausted_untold integer not null default 0,
  exhausted_told_at timestamptz,
  primary key (client_key, endpoint_id),
  constraint what_a_client_is_told_has_a_beginning
    check ((failing_told > 0) = (failing_since is not null))
);
create index client_endpoints_told_failing on client_endpoint_notices (client_key, endpoint_id)
  where failing_since is not null;
create index client_endpoints_with_untold on client_endpoint_notices (client_key, endpoint_id)
  where exhausted_untold > 0;

-- Exhausted deliveries that ended until here are in the counts above. One row, or none.
create table client_notice_progress (
  is_only boolean primary key default true,
  exhausted_until timestamptz not null,
  constraint there_is_only_one_for_clients check (is_only)
);
