-- Who is signed in at the console, and the links that sign somebody in once. Several processes serve the
-- console: whoever signs in at one of them is known to all.

-- A session stands for the credential that it was opened with and ends with it: one key of an operator,
-- or one secret of a client. The cookie is 256 random bits; only their SHA-256 is here.
create table console_sessions (
  digest bytea primary key,
  id uuid not null,
  -- The key of PAYBELL_OPERATOR_KEY has no row: its own digest tells whether it is still the same.
  first_key_digest bytea,
  first_key_master_key_id text,
  operator_key_id uuid references operator_keys,
  client_key integer references clients,
  client_secret_id uuid,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint session_digest_is_sha256 check (length(digest) = 32),
  constraint session_has_one_holder
    check (num_nonnulls(first_key_digest, operator_key_id, client_key) = 1),
  constraint first_key_names_its_master_key
    check ((first_key_digest is null) = (first_key_master_key_id is null)),
  constraint client_session_names_its_secret
    check ((client_key is null) = (client_secret_id is null))
);
-- One holder's sessions, newest first: there is a limit to how many. A key that goes takes them with it.
create index console_sessions_by_client on console_sessions (client_key, created_at)
  where client_key is not null;
create index console_sessions_by_operator_key on console_sessions (operator_key_id, created_at)
  where operator_key_id is not null;
create index console_sessions_of_the_first_key on console_sessions (created_at)
  where first_key_digest is not null;
create index console_sessions_by_end on console_sessions (expires_at);

-- Each is good for one sign-in: using it deletes it.
create table console_links (
  digest bytea primary key,
  expires_at timestamptz not null,
  constraint link_digest_is_sha256 check (length(digest) = 32)
);
