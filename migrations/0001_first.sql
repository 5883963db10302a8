-- The first shape of the store. Everything belongs to exactly one client and carries that client's
-- compact key in its primary and unique keys, so that a distributed PostgreSQL can place a client's
-- rows together. Ids (UUIDv7) are made by the service: nothing here depends on a shared sequence,
-- the client's own key excepted, which is taken once, at onboarding.

create table clients (
  client_key integer generated always as identity primary key,
  id uuid not null,
  name text not null,
  status text not null default 'ACTIVE',
  created_at timestamptz not null,
  constraint client_id_is_unique unique (id),
  constraint client_status_is_known check (status in ('ACTIVE', 'DISABLED'))
);

-- A client secret is kept only as an HMAC under the master key named by master_key_id.
create table client_secrets (
  client_key integer not null references clients,
  id uuid not null,
  digest bytea not null,
  master_key_id text not null,
  created_at timestamptz not null,
  primary key (client_key, id),
  constraint secret_digest_is_sha256 check (length(digest) = 32)
);

create table accounts (
  client_key integer not null references clients,
  id uuid not null,
  name text not null,
  created_at timestamptz not null,
  primary key (client_key, id)
);
-- The operator feeds payments by account alone; ids are made here, so they do not collide.
create index accounts_by_id on accounts (id);

-- Private keys are sealed (AES-256-GCM). A retired key signs no more and verifies until verifies_until.
create table signing_keys (
  kid text primary key,
  public_jwk jsonb not null,
  private_key bytea not null,
  created_at timestamptz not null,
  verifies_until timestamptz
);

-- An endpoint is made through one of two doors: a subscription (all payments of a client) or a
-- webhook (one account). A deleted one stays, so that history can still name its address.
create table endpoints (
  client_key integer not null references clients,
  id uuid not null,
  kind text not null,
  account_id uuid,
  -- The account, or the nil uuid for "all accounts": fan-out asks for two scopes by equality.
  scope uuid not null
    generated always as (coalesce(account_id, '00000000-0000-0000-0000-000000000000')) stored,
  shard smallint not null,
  -- The text first given; "the same address" means the same parsed href, kept as its SHA-256.
  url text not null,
  href_hash bytea not null,
  status text not null default 'ACTIVE',
  inactive_since timestamptz,
  shared_key bytea not null,
  previous_key bytea,
  previous_key_until timestamptz,
  header_name text,
  header_value bytea,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  deleted_at timestamptz,
  primary key (client_key, id),
  constraint endpoint_kind_is_known check (kind in ('subscription', 'webhook')),
  constraint only_a_webhook_has_an_account check ((kind = 'webhook') = (account_id is not null)),
  constraint endpoint_status_is_known check (status in ('ACTIVE', 'PAUSED', 'DISABLED')),
  constraint only_an_active_endpoint_runs check ((status = 'ACTIVE') = (inactive_since is null)),
  constraint previous_key_has_an_end check ((previous_key is null) = (previous_key_until is null)),
  constraint header_is_whole check ((header_name is null) = (header_value is null)),
  constraint shard_is_one_of_64 check (shard between 0 and 63)
);
create unique index one_endpoint_per_address on endpoints (client_key, scope, href_hash)
  where deleted_at is null;
-- Owners in other processes ask once a second what has changed.
create index endpoints_by_change on endpoints (changed_at);

-- What attempts have shown of an endpoint. Written at most once a second per endpoint, in place.
create table endpoint_health (
  client_key integer not null,
  endpoint_id uuid not null,
  failing_since timestamptz,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_error text,
  circuit text not null default 'CLOSED',
  primary key (client_key, endpoint_id),
  constraint circuit_is_known check (circuit in ('CLOSED', 'OPEN', 'HALF_OPEN'))
) with (fillfactor = 50);

-- Attempts of one endpoint in one hour; durations[i] counts those in the i-th bucket of core/health.
create table endpoint_hours (
  client_key integer not null,
  endpoint_id uuid not null,
  hour timestamptz not null,
  attempts integer not null,
  delivered integer not null,
  durations integer[] not null,
  primary key (client_key, endpoint_id, hour)
) with (fillfactor = 50);

-- The payment as it is now. `text` is its canonical JSON without the file content; the id comes
-- first in the key, because a payment id is looked for across clients too (it may be another's).
create table payments (
  client_key integer not null,
  id uuid not null,
  account_id uuid not null,
  sequence integer not null,
  version bigint,
  text text not null,
  document_hash bytea,
  accepted_at timestamptz not null,
  changed_at timestamptz not null,
  primary key (id, client_key),
  constraint payment_sequence_starts_at_one check (sequence >= 1)
) with (fillfactor = 80);
create index payments_newest on payments (client_key, accepted_at, id);
-- Whether a file is still used. Most payments have none and take no room here.
create index payments_with_document on payments (client_key, document_hash)
  where document_hash is not null;

-- File contents, once per client and hash, as the base64 characters that callbacks carry.
create table documents (
  client_key integer not null,
  hash bytea not null,
  content text not null,
  created_at timestamptz not null,
  primary key (client_key, hash),
  constraint document_hash_is_sha256 check (length(hash) = 32)
);
-- Base64 of compressed formats gains nothing from another compression.
alter table documents alter column content set storage external;

-- One accepted change of one payment; immutable. Partitioned by its id, which is a UUIDv7: a look-up
-- by id goes straight to its day, and a day is dropped whole.
create table events (
  client_key integer not null,
  id uuid not null,
  payment_id uuid not null,
  account_id uuid not null,
  sequence integer not null,
  kind text not null,
  text text not null,
  document_hash bytea,
  -- How much memory an attempt will need before it is read.
  document_bytes integer,
  created_at timestamptz not null,
  primary key (client_key, id),
  constraint document_is_whole check ((document_hash is null) = (document_bytes is null))
) partition by range (id);
create index events_of_payment on events (client_key, payment_id, sequence);
create index events_with_document on events (client_key, document_hash)
  where document_hash is not null;
create table events_default partition of events default;

-- What is owed. A delivery lives here while it is PENDING and leaves when it is final: this table
-- stays as small as the backlog, and finished history is append-only.
create table pending_deliveries (
  client_key integer not null,
  id uuid not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  payment_id uuid not null,
  account_id uuid not null,
  sequence integer not null,
  kind text not null,
  shard smallint not null,
  created_at timestamptz not null,
  -- Null: parked, waits for its lane (an endpoint that is not active, is failing, or has too much in
  -- memory already). Otherwise no attempt starts earlier.
  next_attempt_at timestamptz,
  attempts integer not null default 0,
  -- The run: 7 days from its first attempt. A replay begins a new one; attempts count on.
  run_attempts integer not null default 0,
  first_attempt_at timestamptz,
  first_failed_at timestamptz,
  deadline_at timestamptz,
  -- A replay was asked for by a person: it keeps no order among other updates.
  is_replay boolean not null default false,
  last_outcome text,
  last_status smallint,
  primary key (client_key, id),
  constraint a_begun_run_has_a_deadline
    check ((first_attempt_at is null) = (deadline_at is null)),
  constraint run_is_part_of_all_attempts check (run_attempts between 0 and attempts)
) with (
  fillfactor = 85,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.2,
  autovacuum_analyze_threshold = 10000
);
-- Due work of a shard, read forward from a lower bound. The id breaks ties: a whole gathering, or a
-- resumed endpoint's backlog, is due at one and the same instant.
create index deliveries_due on pending_deliveries (shard, next_attempt_at, id)
  where next_attempt_at is not null;
-- What is parked, by lane. Rows are born with a due time, so on a good day this index is empty.
create index deliveries_parked on pending_deliveries (shard, client_key, endpoint_id, id)
  where next_attempt_at is null;
-- The updates of one payment that one endpoint still waits for, in order. Without the client's key: a
-- planner that believes the table to be empty, as it often is, would take any index that has it for a
-- look-up by client and id, and wade through all that is there or has died there.
create index deliveries_of_strand on pending_deliveries (endpoint_id, payment_id, sequence);

create table final_deliveries (
  client_key integer not null,
  id uuid not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  payment_id uuid not null,
  account_id uuid not null,
  sequence integer not null,
  kind text not null,
  created_at timestamptz not null,
  state text not null,
  attempts integer not null,
  deadline_at timestamptz,
  finished_at timestamptz not null,
  last_outcome text,
  last_status smallint,
  -- The attempt that delivered: when it began and what it took. It has no other row.
  attempted_at timestamptz,
  duration_ms integer,
  primary key (client_key, id, finished_at),
  constraint final_state_is_final
    check (state in ('DELIVERED', 'EXHAUSTED', 'SUPERSEDED', 'CANCELLED')),
  constraint delivered_means_200
    check (state <> 'DELIVERED' or (last_outcome = 'answered' and last_status = 200)),
  constraint only_a_delivery_keeps_its_attempt
    check (num_nonnulls(attempted_at, duration_ms) = case state when 'DELIVERED' then 2 else 0 end)
) partition by range (finished_at);
create index final_deliveries_of_endpoint on final_deliveries (client_key, endpoint_id, id);
create index final_deliveries_of_payment on final_deliveries (client_key, payment_id, id);
create table final_deliveries_default partition of final_deliveries default;

-- One row per POST, but for the one that delivered: that is told by the delivery's own row, because most
-- deliveries need no other. The response's first bytes are kept only when it was not a 200.
create table earlier_attempts (
  client_key integer not null,
  delivery_id uuid not null,
  attempt integer not null,
  at timestamptz not null,
  duration_ms integer not null,
  outcome text not null,
  status smallint,
  excerpt bytea,
  primary key (client_key, delivery_id, attempt, at),
  constraint attempts_count_from_one check (attempt >= 1),
  constraint excerpt_is_short check (length(excerpt) <= 4096)
) partition by range (at);
create table earlier_attempts_default partition of earlier_attempts default;

-- Every attempt, once.
create view attempts with (security_invoker = true) as
  select client_key, delivery_id, attempt, at, duration_ms, outcome, status, excerpt
  from earlier_attempts
  union all
  select client_key, id, attempts, attempted_at, duration_ms, last_outcome, last_status, null
  from final_deliveries where state = 'DELIVERED';

-- Who sends for which share of the endpoints. Read and compared on the database's clock alone.
create table leases (
  shard smallint primary key,
  epoch bigint not null default 0,
  owner uuid,
  expires_at timestamptz not null default '-infinity',
  constraint lease_shard_is_one_of_64 check (shard between 0 and 63)
) with (fillfactor = 20);
insert into leases (shard) select generate_series(0, 63);

-- Processes that are alive, so that each knows its fair share of the shards.
create table processes (
  id uuid primary key,
  host text not null,
  version text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null
) with (fillfactor = 50);
