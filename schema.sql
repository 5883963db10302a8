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
CREATE INDEX accounts_by_creation ON accounts USING btree (client_key, created_at, id);
CREATE INDEX accounts_by_id ON accounts USING btree (id);
CREATE INDEX accounts_by_words ON accounts USING gin (search_words(name)) WITH (fastupdate=off);

create table attempt_steps (
  step_seconds integer not null,
  at timestamp with time zone not null,
  process_id uuid not null,
  attempts integer not null,
  delivered integer not null,
  durations integer[] not null,
  constraint attempt_steps_pkey PRIMARY KEY (step_seconds, at, process_id),
  constraint step_is_known CHECK ((step_seconds = ANY (ARRAY[60, 900, 3600])))
) with (fillfactor=50);

create table audit (
  id uuid not null,
  at timestamp with time zone not null,
  actor text not null,
  action text not null,
  object text not null,
  request_id uuid not null,
  changes text,
  place bigint not null default feed_place((0)::bigint, 1),
  constraint audit_pkey PRIMARY KEY (id),
  constraint audit_changes_are_short CHECK ((length(changes) <= 4000)) NOT VALID,
  constraint audit_texts_are_short CHECK (((length(actor) <= 100) AND (length(action) <= 100) AND (length(object) <= 200)))
) partition by RANGE (id);
CREATE INDEX audit_by_place ON audit USING brin (place) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX audit_by_value ON audit USING brin (object text_bloom_ops (n_distinct_per_range='2000'), actor text_bloom_ops (n_distinct_per_range='64'), action text_bloom_ops (n_distinct_per_range='64')) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX audit_of_acts ON audit USING btree (id) WHERE (action <> ALL (ARRAY['payment.put'::text, 'payment.batch'::text]));

create table audit_default partition of audit DEFAULT;

create table audit_drops (
  through bigint not null,
  jws text not null,
  constraint audit_drops_pkey PRIMARY KEY (through)
);

create table audit_seal_progress (
  is_only boolean not null default true,
  checked_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  sealed_through timestamp with time zone not null default '-infinity'::timestamp with time zone,
  head_told_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  verified_at timestamp with time zone,
  verified_from bigint,
  verified_to bigint,
  finding text,
  verdict text,
  constraint audit_seal_progress_pkey PRIMARY KEY (is_only),
  constraint sealing_has_one_progress CHECK (is_only)
);

create table audit_segments (
  segment bigint not null,
  from_place bigint not null,
  to_place bigint not null,
  count integer not null,
  digest bytea not null,
  previous bytea not null,
  sealed_at timestamp with time zone not null,
  jws text not null,
  row_digests bytea,
  constraint audit_segments_pkey PRIMARY KEY (segment),
  constraint a_segment_has_rows CHECK (((count >= 1) AND (from_place < to_place))),
  constraint each_row_has_a_digest CHECK ((length(row_digests) = (32 * count))),
  constraint segment_digests_are_sha256 CHECK (((length(digest) = 32) AND (length(previous) = 32))),
  constraint segments_are_numbered_from_1 CHECK ((segment >= 1))
);
CREATE INDEX audit_segments_by_time ON audit_segments USING btree (sealed_at);

create table changes_at_commit (
  transaction_id xid8 not null default pg_current_xact_id(),
  client_key integer not null,
  payment_id uuid not null,
  account_id uuid not null,
  sequence integer not null,
  kind text not null,
  text text not null,
  document_hash bytea,
  document_bytes integer,
  recorded_at timestamp with time zone not null,
  constraint owe_changes_at_commit TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint changes_at_commit_pkey PRIMARY KEY (transaction_id, client_key, payment_id, sequence)
);

create table client_certificates (
  id uuid not null,
  name text not null,
  subject text not null,
  private_key bytea not null,
  request_pem text,
  chain_pem text,
  fingerprint bytea,
  not_before timestamp with time zone,
  not_after timestamp with time zone,
  is_default boolean not null,
  created_at timestamp with time zone not null,
  expiry_told_days smallint,
  notices integer not null default 0,
  is_for_everyone boolean not null default false,
  client_keys integer[] not null default '{}'::integer[],
  constraint client_certificates_pkey PRIMARY KEY (id),
  constraint certificate_has_a_beginning CHECK ((num_nonnulls(request_pem, chain_pem) > 0)),
  constraint certificate_is_whole CHECK ((num_nulls(chain_pem, fingerprint, not_before, not_after) = ANY (ARRAY[0, 4]))),
  constraint everyone_is_not_named CHECK (((NOT is_for_everyone) OR (client_keys = '{}'::integer[]))),
  constraint only_a_whole_one_is_default CHECK (((chain_pem IS NOT NULL) OR (NOT is_default)))
);
CREATE UNIQUE INDEX one_certificate_per_name ON client_certificates USING btree (name);
CREATE UNIQUE INDEX one_default_certificate ON client_certificates USING btree (is_default) WHERE is_default;

create table client_console_links (
  digest bytea not null,
  client_key integer not null,
  expires_at timestamp with time zone not null,
  constraint client_console_links_pkey PRIMARY KEY (digest),
  constraint client_console_links_client_key_fkey FOREIGN KEY (client_key) REFERENCES clients(client_key),
  constraint client_link_digest_is_sha256 CHECK ((length(digest) = 32))
);
CREATE INDEX client_console_links_by_end ON client_console_links USING btree (expires_at);

create table client_endpoint_notices (
  client_key integer not null,
  endpoint_id uuid not null,
  sequence integer not null default 0,
  failing_since timestamp with time zone,
  failing_told smallint not null default 0,
  disabled_since timestamp with time zone,
  exhausted_total bigint not null default 0,
  exhausted_untold integer not null default 0,
  exhausted_told_at timestamp with time zone,
  constraint client_endpoint_notices_pkey PRIMARY KEY (client_key, endpoint_id),
  constraint what_a_client_is_told_has_a_beginning CHECK (((failing_told > 0) = (failing_since IS NOT NULL)))
);
CREATE INDEX client_endpoints_told_failing ON client_endpoint_notices USING btree (client_key, endpoint_id) WHERE (failing_since IS NOT NULL);
CREATE INDEX client_endpoints_with_untold ON client_endpoint_notices USING btree (client_key, endpoint_id) WHERE (exhausted_untold > 0);

create table client_keys (
  client_key integer not null,
  kid text not null,
  public_jwk jsonb not null,
  created_at timestamp with time zone not null,
  authentication bytea not null,
  constraint client_keys_pkey PRIMARY KEY (client_key, kid),
  constraint client_keys_client_key_fkey FOREIGN KEY (client_key) REFERENCES clients(client_key)
);

create table client_moves (
  client_key integer not null,
  client_id uuid not null,
  to_cell integer not null,
  to_address text not null,
  active_endpoints uuid[] not null,
  started_at timestamp with time zone not null,
  moved_at timestamp with time zone,
  step text not null,
  state text generated always as (
CASE step
    WHEN 'CLOSING'::text THEN 'COPYING'::text
    WHEN 'REMOVED'::text THEN 'MOVED'::text
    ELSE step
END) stored,
  endpoints uuid[] not null default '{}'::uuid[],
  constraint client_moves_pkey PRIMARY KEY (client_key),
  constraint client_moves_client_key_fkey FOREIGN KEY (client_key) REFERENCES clients(client_key),
  constraint cell_is_one_of_1024 CHECK (((to_cell >= 0) AND (to_cell <= 1023))),
  constraint move_step_is_known CHECK ((step = ANY (ARRAY['DRAINING'::text, 'CLOSING'::text, 'COPYING'::text, 'MOVED'::text, 'REMOVED'::text]))),
  constraint moved_has_a_time CHECK (((step = ANY (ARRAY['MOVED'::text, 'REMOVED'::text])) = (moved_at IS NOT NULL)))
);

create table client_notice_progress (
  is_only boolean not null default true,
  exhausted_until timestamp with time zone not null,
  constraint client_notice_progress_pkey PRIMARY KEY (is_only),
  constraint there_is_only_one_for_clients CHECK (is_only)
);

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
  is_internal boolean not null default false,
  credentials text not null default 'any'::text,
  constraint client_id_is_unique UNIQUE (id),
  constraint clients_pkey PRIMARY KEY (client_key),
  constraint client_status_is_known CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'DISABLED'::text]))),
  constraint credentials_are_any_or_keys CHECK ((credentials = ANY (ARRAY['any'::text, 'keys'::text])))
);
CREATE INDEX clients_by_age ON clients USING btree (created_at);
CREATE INDEX clients_by_name ON clients USING btree (lower(name));
CREATE INDEX clients_by_words ON clients USING gin (search_words(name)) WITH (fastupdate=off);
CREATE UNIQUE INDEX one_internal_client ON clients USING btree (is_internal) WHERE is_internal;

create table console_links (
  digest bytea not null,
  expires_at timestamp with time zone not null,
  constraint console_links_pkey PRIMARY KEY (digest),
  constraint link_digest_is_sha256 CHECK ((length(digest) = 32))
);

create table console_sessions (
  digest bytea not null,
  id uuid not null,
  first_key_digest bytea,
  first_key_master_key_id text,
  operator_key_id uuid,
  client_key integer,
  client_secret_id uuid,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  oidc_issuer text,
  oidc_subject text,
  oidc_sid text,
  oidc_group text,
  oidc_email text,
  oidc_id_token bytea,
  constraint console_sessions_pkey PRIMARY KEY (digest),
  constraint console_sessions_client_key_fkey FOREIGN KEY (client_key) REFERENCES clients(client_key),
  constraint console_sessions_operator_key_id_fkey FOREIGN KEY (operator_key_id) REFERENCES operator_keys(id),
  constraint first_key_names_its_master_key CHECK (((first_key_digest IS NULL) = (first_key_master_key_id IS NULL))),
  constraint only_a_client_session_names_a_secret CHECK (((client_key IS NOT NULL) OR (client_secret_id IS NULL))),
  constraint person_has_issuer_and_group CHECK ((((oidc_subject IS NULL) = (oidc_issuer IS NULL)) AND ((oidc_subject IS NULL) = (oidc_group IS NULL)))),
  constraint session_digest_is_sha256 CHECK ((length(digest) = 32)),
  constraint session_has_one_holder CHECK ((num_nonnulls(first_key_digest, operator_key_id, client_key, oidc_subject) = 1))
);
CREATE INDEX console_sessions_by_client ON console_sessions USING btree (client_key, created_at) WHERE (client_key IS NOT NULL);
CREATE INDEX console_sessions_by_end ON console_sessions USING btree (expires_at);
CREATE INDEX console_sessions_by_operator_key ON console_sessions USING btree (operator_key_id, created_at) WHERE (operator_key_id IS NOT NULL);
CREATE INDEX console_sessions_by_person ON console_sessions USING btree (oidc_subject, created_at) WHERE (oidc_subject IS NOT NULL);
CREATE INDEX console_sessions_by_sid ON console_sessions USING btree (oidc_sid) WHERE (oidc_sid IS NOT NULL);
CREATE INDEX console_sessions_of_the_first_key ON console_sessions USING btree (created_at) WHERE (first_key_digest IS NOT NULL);

create table consumers (
  source text not null,
  lease uuid not null,
  constraint consumers_pkey PRIMARY KEY (source)
);

create table document_links (
  client_key integer not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  url text not null,
  constraint document_links_pkey PRIMARY KEY (client_key, event_id, endpoint_id),
  constraint link_is_short CHECK ((length(url) <= 4096))
);
CREATE INDEX document_links_by_age ON document_links USING btree (event_id);

create table documents (
  client_key integer not null,
  hash bytea not null,
  content text not null storage e,
  created_at timestamp with time zone not null,
  constraint documents_pkey PRIMARY KEY (client_key, hash),
  constraint document_hash_is_sha256 CHECK ((length(hash) = 32))
);

create table earlier_addresses (
  client_key integer not null,
  endpoint_id uuid not null,
  until timestamp with time zone not null,
  url text not null,
  constraint earlier_addresses_pkey PRIMARY KEY (client_key, endpoint_id, until)
);

create table earlier_attempts (
  client_key integer not null,
  delivery_id uuid not null,
  attempt integer not null,
  at timestamp with time zone not null,
  duration_ms integer not null,
  outcome text not null,
  status smallint,
  excerpt bytea,
  constraint earlier_attempts_pkey PRIMARY KEY (client_key, delivery_id, attempt, at),
  constraint attempts_count_from_one CHECK ((attempt >= 1)),
  constraint excerpt_is_short CHECK ((length(excerpt) <= 4096))
) partition by RANGE (at);
comment on index earlier_attempts_pkey is 'The attempts of a delivery: delivery-details, erasures.';

create table earlier_attempts_default partition of earlier_attempts DEFAULT;

create table endpoint_health (
  client_key integer not null,
  endpoint_id uuid not null,
  failing_since timestamp with time zone,
  last_success_at timestamp with time zone,
  last_failure_at timestamp with time zone,
  last_error text,
  circuit text not null default 'CLOSED'::text,
  next_probe_at timestamp with time zone,
  constraint endpoint_health_pkey PRIMARY KEY (client_key, endpoint_id),
  constraint circuit_is_known CHECK ((circuit = ANY (ARRAY['CLOSED'::text, 'OPEN'::text, 'HALF_OPEN'::text])))
) with (fillfactor=50);
CREATE INDEX endpoints_failing ON endpoint_health USING btree (failing_since) WHERE (failing_since IS NOT NULL);
CREATE INDEX endpoints_with_open_circuit ON endpoint_health USING btree (client_key, endpoint_id) WHERE (circuit <> 'CLOSED'::text);

create table endpoint_hours (
  client_key integer not null,
  endpoint_id uuid not null,
  hour timestamp with time zone not null,
  attempts integer not null,
  delivered integer not null,
  durations integer[] not null,
  constraint endpoint_hours_pkey PRIMARY KEY (client_key, endpoint_id, hour)
) with (fillfactor=50);

create table endpoint_notices (
  client_key integer not null,
  endpoint_id uuid not null,
  sequence integer not null default 0,
  failing_since timestamp with time zone,
  failing_told smallint not null default 0,
  disabled_since timestamp with time zone,
  exhausted_total bigint not null default 0,
  exhausted_untold integer not null default 0,
  exhausted_told_at timestamp with time zone,
  constraint endpoint_notices_pkey PRIMARY KEY (client_key, endpoint_id),
  constraint what_is_told_has_a_beginning CHECK (((failing_told > 0) = (failing_since IS NOT NULL)))
);
CREATE INDEX endpoints_told_failing ON endpoint_notices USING btree (client_key, endpoint_id) WHERE (failing_since IS NOT NULL);
CREATE INDEX endpoints_with_untold ON endpoint_notices USING btree (client_key, endpoint_id) WHERE (exhausted_untold > 0);

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
  deliveries_changed_at timestamp with time zone,
  retried_at timestamp with time zone,
  events text[],
  deliver text,
  document text,
  signatures text[],
  hmac_header_name text,
  description text,
  client_certificate text,
  certificate_authorities text[],
  oauth2 jsonb,
  oauth2_secret bytea,
  constraint endpoints_pkey PRIMARY KEY (client_key, id),
  constraint endpoints_client_key_fkey FOREIGN KEY (client_key) REFERENCES clients(client_key),
  constraint an_endpoint_hears_something CHECK ((cardinality(events) > 0)),
  constraint certificate_authorities_are_few CHECK (((cardinality(certificate_authorities) >= 1) AND (cardinality(certificate_authorities) <= 10))),
  constraint deliver_is_known CHECK ((deliver = ANY (ARRAY['every'::text, 'latest'::text]))),
  constraint description_is_short CHECK ((char_length(description) <= 200)),
  constraint document_is_known CHECK ((document = ANY (ARRAY['inline'::text, 'link'::text, 'none'::text]))),
  constraint endpoint_kind_is_known CHECK ((kind = ANY (ARRAY['subscription'::text, 'webhook'::text, 'listener'::text, 'notice'::text, 'client-notice'::text]))),
  constraint endpoint_status_is_known CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'PAUSED'::text, 'DISABLED'::text]))),
  constraint header_is_whole CHECK (((header_name IS NULL) = (header_value IS NULL))),
  constraint oauth2_secret_is_of_a_client CHECK (((oauth2_secret IS NULL) OR (oauth2 IS NOT NULL))),
  constraint only_an_active_endpoint_runs CHECK (((status = 'ACTIVE'::text) = (inactive_since IS NULL))),
  constraint only_some_kinds_have_an_account CHECK (((kind = ANY (ARRAY['webhook'::text, 'listener'::text, 'client-notice'::text])) = (account_id IS NOT NULL))),
  constraint previous_key_has_an_end CHECK (((previous_key IS NULL) = (previous_key_until IS NULL))),
  constraint settings_are_whole CHECK ((((deliver IS NULL) = (document IS NULL)) AND ((deliver IS NULL) = (signatures IS NULL)) AND ((deliver IS NULL) = (hmac_header_name IS NULL)) AND ((deliver IS NOT NULL) OR ((events IS NULL) AND (description IS NULL))))),
  constraint shard_is_one_of_64 CHECK (((shard >= 0) AND (shard <= 63))),
  constraint the_hmac_is_always_there CHECK (('hmac'::text = ANY (signatures)))
);
CREATE INDEX endpoints_by_address ON endpoints USING btree ("left"(url, 600) COLLATE "C", id) WHERE ((deleted_at IS NULL) AND (created_at > '-infinity'::timestamp with time zone));
CREATE INDEX endpoints_by_change ON endpoints USING btree (changed_at);
CREATE INDEX endpoints_by_changed_deliveries ON endpoints USING btree (deliveries_changed_at) WHERE (deliveries_changed_at IS NOT NULL);
CREATE INDEX endpoints_by_client_certificate ON endpoints USING btree (client_certificate) WHERE ((client_certificate IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX endpoints_by_creation ON endpoints USING btree (created_at, id) INCLUDE (client_key) WHERE ((deleted_at IS NULL) AND (created_at > '-infinity'::timestamp with time zone));
CREATE INDEX endpoints_by_id ON endpoints USING btree (id);
CREATE INDEX endpoints_by_words ON endpoints USING gin (search_words(url)) WITH (fastupdate=off);
CREATE INDEX endpoints_disabled ON endpoints USING btree (client_key, id) WHERE ((status = 'DISABLED'::text) AND (deleted_at IS NULL));
CREATE UNIQUE INDEX one_client_notice_endpoint ON endpoints USING btree (client_key, scope) WHERE ((kind = 'client-notice'::text) AND (deleted_at IS NULL));
CREATE UNIQUE INDEX one_endpoint_per_address ON endpoints USING btree (client_key, scope, href_hash) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX one_notice_endpoint ON endpoints USING btree (client_key) WHERE ((kind = 'notice'::text) AND (deleted_at IS NULL));

create table event_traces (
  client_key integer not null,
  event_id uuid not null,
  traceparent text not null,
  created_at timestamp with time zone not null,
  constraint event_traces_pkey PRIMARY KEY (client_key, event_id),
  constraint traceparent_has_its_form CHECK ((length(traceparent) = 55))
);
CREATE INDEX event_traces_by_age ON event_traces USING btree (created_at);

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
  place bigint not null default feed_place((0)::bigint, 1),
  constraint events_pkey PRIMARY KEY (client_key, id),
  constraint document_is_whole CHECK (((document_hash IS NULL) = (document_bytes IS NULL)))
) partition by RANGE (id);
CREATE INDEX events_in_feed_order ON events USING btree (client_key, place, sequence, id);
CREATE INDEX events_of_payment ON events USING btree (client_key, payment_id, sequence);
CREATE INDEX events_with_document ON events USING btree (client_key, document_hash) WHERE (document_hash IS NOT NULL);
comment on index events_in_feed_order is 'The feed, by position: feed. The newest of a client: documents.';
comment on index events_of_payment is 'The events of a payment, and through them its deliveries: events, event-spans, erasures.';
comment on index events_pkey is 'An event by its id: events (bodies), delivery-search, delivery-selections, replays.';
comment on index events_with_document is 'Whether a file is still used: documents.';

create table events_default partition of events DEFAULT;

create table feed_marks (
  at timestamp with time zone not null,
  place bigint not null,
  constraint feed_marks_pkey PRIMARY KEY (at)
);

create table feed_origin (
  is_only boolean not null default true,
  system_identifier bigint not null,
  timeline integer not null,
  shift bigint not null,
  kept_since timestamp with time zone not null,
  ended_since timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint feed_origin_pkey PRIMARY KEY (is_only),
  constraint feed_has_one_origin CHECK (is_only)
);

create table final_counts (
  day date not null,
  state text not null,
  count bigint not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

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
  attempted_at timestamp with time zone,
  duration_ms integer,
  attempts_begun integer,
  excerpt bytea,
  document_mode text,
  is_replay boolean,
  constraint final_deliveries_pkey PRIMARY KEY (client_key, id, finished_at),
  constraint delivered_means_200 CHECK (((state <> 'DELIVERED'::text) OR ((last_outcome = 'answered'::text) AND (last_status = 200)))),
  constraint final_state_is_final CHECK ((state = ANY (ARRAY['DELIVERED'::text, 'EXHAUSTED'::text, 'SUPERSEDED'::text, 'CANCELLED'::text]))),
  constraint little_is_kept_of_a_200 CHECK (((excerpt IS NULL) OR ((state = 'DELIVERED'::text) AND (octet_length(excerpt) <= 256)))) NOT VALID,
  constraint only_a_delivery_keeps_its_attempt CHECK ((num_nonnulls(attempted_at, duration_ms) =
CASE state
    WHEN 'DELIVERED'::text THEN 2
    ELSE 0
END))
) partition by RANGE (finished_at);
CREATE INDEX final_deliveries_exhausted ON final_deliveries USING btree (finished_at, client_key, endpoint_id) WHERE (state = 'EXHAUSTED'::text);
CREATE INDEX final_deliveries_newest ON final_deliveries USING btree (id) WHERE (finished_at > '-infinity'::timestamp with time zone);
CREATE INDEX final_deliveries_of_endpoint ON final_deliveries USING btree (client_key, endpoint_id, id);
CREATE INDEX undelivered ON final_deliveries USING btree (state, id) WHERE (state <> 'DELIVERED'::text);
CREATE INDEX undelivered_of_client ON final_deliveries USING btree (client_key, state, id) WHERE (state <> 'DELIVERED'::text);
CREATE INDEX undelivered_of_endpoint ON final_deliveries USING btree (client_key, endpoint_id, state, id) WHERE (state <> 'DELIVERED'::text);
comment on index final_deliveries_exhausted is 'What was exhausted since the last round of notices: notices. Recovery: delivery-lists.';
comment on index final_deliveries_newest is 'Newest first across clients, and a delivery by its id alone, for the operator: delivery-lists, delivery-details, replays.';
comment on index final_deliveries_of_endpoint is 'Newest first of one endpoint: delivery-lists, delivery-details.';
comment on index final_deliveries_pkey is 'Newest first within a client: delivery-lists. A delivery by its id, and the deliveries of an event: delivery-details, replays, vain-attempts.';
comment on index undelivered is 'What did not arrive, across clients: delivery-lists.';
comment on index undelivered_of_client is 'What did not arrive, of one client: delivery-lists.';
comment on index undelivered_of_endpoint is 'What did not arrive, of one endpoint: delivery-lists.';

create table final_deliveries_default partition of final_deliveries DEFAULT;

create table job_deliveries (
  job_id uuid not null,
  delivery_id uuid not null,
  client_key integer not null,
  endpoint_id uuid not null,
  constraint job_deliveries_pkey PRIMARY KEY (job_id, delivery_id, client_key)
);

create table job_items (
  client_key integer not null,
  delivery_id uuid not null,
  job_id uuid not null,
  place integer not null,
  endpoint_id uuid not null,
  finished_at timestamp with time zone,
  constraint job_items_pkey PRIMARY KEY (client_key, delivery_id)
);
CREATE UNIQUE INDEX job_items_in_order ON job_items USING btree (job_id, place);

create table jobs (
  id uuid not null,
  kind text not null,
  state text not null default 'RUNNING'::text,
  total integer not null,
  done integer not null default 0,
  passed_over integer not null default 0,
  runner uuid,
  held_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  failures integer not null default 0,
  started_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  constraint jobs_pkey PRIMARY KEY (id),
  constraint a_running_job_is_not_finished CHECK (((state = 'RUNNING'::text) = (finished_at IS NULL))),
  constraint job_is_done_in_parts CHECK ((((done >= 0) AND (done <= total)) AND ((passed_over >= 0) AND (passed_over <= done)))),
  constraint job_kind_is_known CHECK ((kind = ANY (ARRAY['replay'::text, 'recover'::text, 'cancel'::text, 'retry'::text, 'replay-missing'::text]))),
  constraint job_state_is_known CHECK ((state = ANY (ARRAY['RUNNING'::text, 'DONE'::text, 'FAILED'::text])))
) with (fillfactor=50);
CREATE INDEX jobs_finished ON jobs USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX jobs_running ON jobs USING btree (id) WHERE (state = 'RUNNING'::text);

create table late_days (
  day date not null,
  constraint late_days_pkey PRIMARY KEY (day)
);

create table leases (
  shard smallint not null,
  epoch bigint not null default 0,
  owner uuid,
  expires_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  beat bigint not null default 0,
  is_early boolean not null default false,
  constraint leases_pkey PRIMARY KEY (shard),
  constraint lease_shard_is_one_of_64 CHECK (((shard >= 0) AND (shard <= 63)))
) with (fillfactor=20);

create table listener_offers (
  client_key integer not null,
  listener_id uuid not null,
  id uuid not null,
  delivery_id uuid,
  event_id uuid not null,
  attempt integer not null,
  headers text[] not null,
  body bytea,
  offered_at timestamp with time zone not null,
  deadline_at timestamp with time zone not null,
  taken_at timestamp with time zone,
  outcome text,
  status smallint,
  duration_ms integer,
  retry_after text,
  excerpt bytea,
  constraint listener_offers_pkey PRIMARY KEY (client_key, listener_id, id),
  constraint an_outcome_has_a_duration CHECK (((outcome IS NULL) = (duration_ms IS NULL))),
  constraint offered_excerpt_is_short CHECK ((length(excerpt) <= 4096)),
  constraint only_a_test_brings_its_body CHECK (((delivery_id IS NULL) = (body IS NOT NULL))),
  constraint only_an_answer_has_a_status CHECK (((outcome = 'answered'::text) = (status IS NOT NULL))),
  constraint only_what_was_taken_is_answered CHECK (((outcome IS NULL) OR (taken_at IS NOT NULL)))
);
CREATE INDEX listener_offers_by_deadline ON listener_offers USING btree (deadline_at);

create table listeners (
  client_key integer not null,
  endpoint_id uuid not null,
  last_polled_at timestamp with time zone not null,
  is_listening boolean not null default false,
  constraint listeners_pkey PRIMARY KEY (client_key, endpoint_id)
) with (fillfactor=50);
CREATE INDEX listeners_by_poll ON listeners USING btree (last_polled_at);

create table migration_hashes (
  name text not null,
  hash text not null,
  noted_at timestamp with time zone not null,
  constraint migration_hashes_pkey PRIMARY KEY (name),
  constraint migration_hash_is_sha256 CHECK ((hash ~ '^[0-9a-f]{64}$'::text))
);

create table notice_progress (
  is_only boolean not null default true,
  exhausted_until timestamp with time zone not null,
  constraint notice_progress_pkey PRIMARY KEY (is_only),
  constraint there_is_only_one CHECK (is_only)
);

create table operator_keys (
  id uuid not null,
  name text not null,
  role text not null,
  digest bytea not null,
  master_key_id text not null,
  created_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  constraint operator_keys_pkey PRIMARY KEY (id),
  constraint key_digest_is_sha256 CHECK ((length(digest) = 32)),
  constraint key_role_is_known CHECK ((role = ANY (ARRAY['admin'::text, 'ingest'::text, 'viewer'::text, 'auditor'::text])))
) with (fillfactor=50);
CREATE UNIQUE INDEX one_live_key_per_name ON operator_keys USING btree (name) WHERE (revoked_at IS NULL);

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
) with (fillfactor=80, autovacuum_vacuum_insert_threshold=100000, autovacuum_vacuum_insert_scale_factor=1, autovacuum_analyze_threshold=100000, autovacuum_analyze_scale_factor=1);
CREATE INDEX payments_by_external_id ON payments USING brin (split_part(split_part(text, '"externalId":"'::text, 2), '"'::text, 1) text_bloom_ops (n_distinct_per_range='500', false_positive_rate='0.005')) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX payments_newest ON payments USING btree (client_key, accepted_at, id);
CREATE INDEX payments_with_document ON payments USING btree (client_key, document_hash) WHERE (document_hash IS NOT NULL);
comment on index payments_by_external_id is 'By the id that its source gave it: payment-lists (searches).';
comment on index payments_newest is 'Newest first within a client: payment-lists. The oldest of a client: payment-retention.';
comment on index payments_pkey is 'A payment by its id: payments (locks, reads), accept.';
comment on index payments_with_document is 'Whether a file is still used: documents, retention.';

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
  document_mode text,
  constraint pending_deliveries_pkey PRIMARY KEY (client_key, id),
  constraint a_begun_run_has_a_deadline CHECK (((first_attempt_at IS NULL) = (deadline_at IS NULL))),
  constraint run_is_part_of_all_attempts CHECK (((run_attempts >= 0) AND (run_attempts <= attempts)))
) with (fillfactor=85, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=10000, autovacuum_vacuum_insert_scale_factor=0, autovacuum_vacuum_insert_threshold=100000, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_scale_factor=0.2, autovacuum_analyze_threshold=10000);
CREATE INDEX deliveries_due ON pending_deliveries USING btree (shard, next_attempt_at, id) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX deliveries_of_strand ON pending_deliveries USING btree (endpoint_id, payment_id, sequence);
CREATE INDEX deliveries_parked ON pending_deliveries USING btree (shard, client_key, endpoint_id, id) WHERE (next_attempt_at IS NULL);
comment on index deliveries_due is 'What is due in a shard: deliveries (readDue).';
comment on index deliveries_of_strand is 'One payment''s updates at one endpoint, and all that an endpoint is owed: accept (elders), deliveries, outcomes, health.';
comment on index deliveries_parked is 'What waits for its lane in a shard: parked.';
comment on index pending_deliveries_pkey is 'A delivery by its id: outcomes, unattempted, parked, cancellations. Newest first within a client: delivery-lists.';

create table processes (
  id uuid not null,
  host text not null,
  version text not null,
  started_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  beat bigint not null default 0,
  sign_turn bigint not null default 0,
  sign text,
  ended_sign text,
  ended_for_ms bigint,
  constraint processes_pkey PRIMARY KEY (id)
) with (fillfactor=50);

create table receiver_checks (
  client_key integer not null,
  endpoint_id uuid not null,
  started_at timestamp with time zone not null,
  constraint receiver_checks_pkey PRIMARY KEY (client_key, endpoint_id)
);

create table revoked_webhook_keys (
  kid text not null,
  revoked_at timestamp with time zone not null,
  constraint revoked_webhook_keys_pkey PRIMARY KEY (kid)
);

create table sealing (
  is_only boolean not null default true,
  is_derived boolean not null,
  binding text not null default 'none'::text,
  binding_authentication bytea,
  lone_version text,
  lone_since timestamp with time zone,
  lone_seen_at timestamp with time zone,
  constraint sealing_pkey PRIMARY KEY (is_only),
  constraint binding_is_known CHECK ((binding = ANY (ARRAY['none'::text, 'begun'::text, 'done'::text]))),
  constraint there_is_one_row CHECK (is_only)
);

create table signing_keys (
  kid text not null,
  public_jwk jsonb not null,
  private_key bytea not null,
  created_at timestamp with time zone not null,
  verifies_until timestamp with time zone,
  authentication bytea,
  constraint signing_keys_pkey PRIMARY KEY (kid)
);

create table statement_hours (
  client_key integer not null,
  endpoint_id uuid not null,
  hour timestamp with time zone not null,
  reopened integer not null default 0,
  delivered integer,
  superseded integer,
  exhausted integer,
  cancelled integer,
  ids_digest bytea,
  place bigint,
  authentication bytea,
  constraint statement_hours_pkey PRIMARY KEY (client_key, endpoint_id, hour),
  constraint a_kept_hour_is_whole CHECK ((num_nonnulls(delivered, superseded, exhausted, cancelled, ids_digest) = ANY (ARRAY[0, 5]))),
  constraint an_hour_begins_on_the_hour CHECK (((EXTRACT(epoch FROM hour) % (3600)::numeric) = (0)::numeric)),
  constraint ids_digest_has_256_bits CHECK ((length(ids_digest) = 32))
);
CREATE INDEX statement_hours_by_age ON statement_hours USING btree (hour);

create table used_assertions (
  client_key integer not null,
  jti_digest bytea not null,
  expires_at timestamp with time zone not null,
  constraint used_assertions_pkey PRIMARY KEY (client_key, jti_digest),
  constraint used_assertions_client_key_fkey FOREIGN KEY (client_key) REFERENCES clients(client_key)
);
CREATE INDEX used_assertions_by_expiry ON used_assertions USING btree (expires_at);

create table used_logouts (
  digest bytea not null,
  expires_at timestamp with time zone not null,
  constraint used_logouts_pkey PRIMARY KEY (digest)
);
CREATE INDEX used_logouts_by_expiry ON used_logouts USING btree (expires_at);

create table webhook_keys (
  kid text not null,
  public_jwk jsonb not null,
  private_key bytea,
  created_at timestamp with time zone not null,
  verifies_until timestamp with time zone,
  authentication bytea,
  constraint webhook_keys_pkey PRIMARY KEY (kid),
  constraint a_key_that_signs_is_whole CHECK (((verifies_until IS NOT NULL) OR (private_key IS NOT NULL)))
);

create view attempts with (security_invoker=true) as
 SELECT earlier_attempts.client_key,
    earlier_attempts.delivery_id,
    earlier_attempts.attempt,
    earlier_attempts.at,
    earlier_attempts.duration_ms,
    earlier_attempts.outcome,
    earlier_attempts.status,
    earlier_attempts.excerpt
   FROM earlier_attempts
UNION ALL
 SELECT final_deliveries.client_key,
    final_deliveries.id AS delivery_id,
    final_deliveries.attempts AS attempt,
    final_deliveries.attempted_at AS at,
    final_deliveries.duration_ms,
    final_deliveries.last_outcome AS outcome,
    final_deliveries.last_status AS status,
    final_deliveries.excerpt
   FROM final_deliveries
  WHERE final_deliveries.state = 'DELIVERED'::text;
