-- The schema that the migrations make. Written by `npm run schema`; a test compares it with a
-- freshly migrated database. Partitions that are made day by day are left out.

create table accounts (
  client_key integer not null,
  id uuid not null,
  name text not null,
  created_at timestamp with time zone not null,
  constraint accounts_pkey PRIMARY KEY (client_key, id),
  constraint accounts_client_key_fkey FOREIGN KEY (client_key) REFERENCES clients(client_key)
);
CREATE INDEX accounts_by_id ON accounts USING btree (id);

create table attempts (
  client_key integer not null,
  delivery_id uuid not null,
  attempt integer not null,
  at timestamp with time zone not null,
  duration_ms integer not null,
  outcome text not null,
  status smallint,
  excerpt bytea,
  constraint attempts_pkey PRIMARY KEY (client_key, delivery_id, attempt, at),
  constraint attempts_count_from_one CHECK ((attempt >= 1)),
  constraint excerpt_is_short CHECK ((length(excerpt) <= 4096))
) partition by RANGE (at);

create table attempts_default partition of attempts DEFAULT;

create table client_secrets (
  client_key integer not null,
  id uuid not null,
  digest bytea not null,
  master_key_id text not null,
  created_at timestamp with time zone not null,
  constraint client_secrets_pkey PRIMARY KEY (client_key, id),
  constraint client_secrets_client_key_fkey FOREIGN KEY (client_key) REFERENCES clients(client_key),
  constraint secret_digest_is_sha256 CHECK ((length(digest) = 32))
);

create table clients (
  client_key integer not null generated always as identity,
  id uuid not null,
  name text not null,
  status text not null default 'ACTIVE'::text,
  created_at timestamp with time zone not null,
  constraint client_id_is_unique UNIQUE (id),
  constraint clients_pkey PRIMARY KEY (client_key),
  constraint client_status_is_known CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'DISABLED'::text])))
);

create table documents (
  client_key integer not null,
  hash bytea not null,
  content text not null storage e,
  created_at timestamp with time zone not null,
  constraint documents_pkey PRIMARY KEY (client_key, hash),
  constraint document_hash_is_sha256 CHECK ((length(hash) = 32))
);

create table endpoint_health (
  client_key integer not null,
  endpoint_id uuid not null,
  failing_since timestamp with time zone,
  last_success_at timestamp with time zone,
  last_failure_at timestamp with time zone,
  last_error text,
  circuit text not null default 'CLOSED'::text,
  constraint endpoint_health_pkey PRIMARY KEY (client_key, endpoint_id),
  constraint circuit_is_known CHECK ((circuit = ANY (ARRAY['CLOSED'::text, 'OPEN'::text, 'HALF_OPEN'::text])))
) with (fillfactor=50);

create table endpoint_hours (
  client_key integer not null,
  endpoint_id uuid not null,
  hour timestamp with time zone not null,
  attempts integer not null,
  delivered integer not null,
  durations integer[] not null,
  constraint endpoint_hours_pkey PRIMARY KEY (client_key, endpoint_id, hour)
) with (fillfactor=50);

create table endpoints (
  client_key integer not null,
  id uuid not null,
  kind text not null,
  account_id uuid,
  scope uuid not null generated always as (COALESCE(account_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
  shard smallint not null,
  url text not null,
  href_hash bytea not null,
  status text not null default 'ACTIVE'::text,
  inactive_since timestamp with time zone,
  shared_key bytea not null,
  previous_key bytea,
  previous_key_until timestamp with time zone,
  header_name text,
  header_value bytea,
  created_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  constraint endpoints_pkey PRIMARY KEY (client_key, id),
  constraint endpoints_client_key_fkey FOREIGN KEY (client_key) REFERENCES clients(client_key),
  constraint endpoint_kind_is_known CHECK ((kind = ANY (ARRAY['subscription'::text, 'webhook'::text]))),
  constraint endpoint_status_is_known CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'PAUSED'::text, 'DISABLED'::text]))),
  constraint header_is_whole CHECK (((header_name IS NULL) = (header_value IS NULL))),
  constraint only_a_webhook_has_an_account CHECK (((kind = 'webhook'::text) = (account_id IS NOT NULL))),
  constraint only_an_active_endpoint_runs CHECK (((status = 'ACTIVE'::text) = (inactive_since IS NULL))),
  constraint previous_key_has_an_end CHECK (((previous_key IS NULL) = (previous_key_until IS NULL))),
  constraint shard_is_one_of_64 CHECK (((shard >= 0) AND (shard <= 63)))
);
CREATE INDEX endpoints_by_change ON endpoints USING btree (changed_at);
CREATE UNIQUE INDEX one_endpoint_per_address ON endpoints USING btree (client_key, scope, href_hash) WHERE (deleted_at IS NULL);

create table events (
  client_key integer not null,
  id uuid not null,
  payment_id uuid not null,
  account_id uuid not null,
  sequence integer not null,
  kind text not null,
  text text not null,
  document_hash bytea,
  document_bytes integer,
  created_at timestamp with time zone not null,
  constraint events_pkey PRIMARY KEY (client_key, id),
  constraint document_is_whole CHECK (((document_hash IS NULL) = (document_bytes IS NULL)))
) partition by RANGE (id);
CREATE INDEX events_of_payment ON events USING btree (client_key, payment_id, sequence);
CREATE INDEX events_with_document ON events USING btree (client_key, document_hash) WHERE (document_hash IS NOT NULL);

create table events_default partition of events DEFAULT;

create table final_deliveries (
  client_key integer not null,
  id uuid not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  payment_id uuid not null,
  account_id uuid not null,
  sequence integer not null,
  kind text not null,
  created_at timestamp with time zone not null,
  state text not null,
  attempts integer not null,
  deadline_at timestamp with time zone,
  finished_at timestamp with time zone not null,
  last_outcome text,
  last_status smallint,
  constraint final_deliveries_pkey PRIMARY KEY (client_key, id, finished_at),
  constraint delivered_means_200 CHECK (((state <> 'DELIVERED'::text) OR ((last_outcome = 'answered'::text) AND (last_status = 200)))),
  constraint final_state_is_final CHECK ((state = ANY (ARRAY['DELIVERED'::text, 'EXHAUSTED'::text, 'SUPERSEDED'::text, 'CANCELLED'::text])))
) partition by RANGE (finished_at);
CREATE INDEX final_deliveries_of_endpoint ON final_deliveries USING btree (client_key, endpoint_id, id);
CREATE INDEX final_deliveries_of_payment ON final_deliveries USING btree (client_key, payment_id, id);

create table final_deliveries_default partition of final_deliveries DEFAULT;

create table leases (
  shard smallint not null,
  epoch bigint not null default 0,
  owner uuid,
  expires_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint leases_pkey PRIMARY KEY (shard),
  constraint lease_shard_is_one_of_64 CHECK (((shard >= 0) AND (shard <= 63)))
) with (fillfactor=20);

create table payments (
  client_key integer not null,
  id uuid not null,
  account_id uuid not null,
  sequence integer not null,
  version bigint,
  text text not null,
  document_hash bytea,
  accepted_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  constraint payments_pkey PRIMARY KEY (id, client_key),
  constraint payment_sequence_starts_at_one CHECK ((sequence >= 1))
) with (fillfactor=80);
CREATE INDEX payments_newest ON payments USING btree (client_key, accepted_at, id);
CREATE INDEX payments_with_document ON payments USING btree (client_key, document_hash) WHERE (document_hash IS NOT NULL);

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
  created_at timestamp with time zone not null,
  next_attempt_at timestamp with time zone,
  attempts integer not null default 0,
  run_attempts integer not null default 0,
  first_attempt_at timestamp with time zone,
  first_failed_at timestamp with time zone,
  deadline_at timestamp with time zone,
  is_replay boolean not null default false,
  last_outcome text,
  last_status smallint,
  constraint pending_deliveries_pkey PRIMARY KEY (client_key, id),
  constraint a_begun_run_has_a_deadline CHECK (((first_attempt_at IS NULL) = (deadline_at IS NULL))),
  constraint run_is_part_of_all_attempts CHECK (((run_attempts >= 0) AND (run_attempts <= attempts)))
) with (fillfactor=85, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=10000, autovacuum_vacuum_insert_scale_factor=0, autovacuum_vacuum_insert_threshold=100000, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_scale_factor=0.2, autovacuum_analyze_threshold=10000);
CREATE INDEX deliveries_due ON pending_deliveries USING btree (shard, next_attempt_at, id) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX deliveries_parked ON pending_deliveries USING btree (shard, client_key, endpoint_id, id) WHERE (next_attempt_at IS NULL);
CREATE UNIQUE INDEX one_delivery_per_event_and_endpoint ON pending_deliveries USING btree (endpoint_id, payment_id, sequence, client_key);

create table processes (
  id uuid not null,
  host text not null,
  version text not null,
  started_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  constraint processes_pkey PRIMARY KEY (id)
) with (fillfactor=50);

create table signing_keys (
  kid text not null,
  public_jwk jsonb not null,
  private_key bytea not null,
  created_at timestamp with time zone not null,
  verifies_until timestamp with time zone,
  constraint signing_keys_pkey PRIMARY KEY (kid)
);
