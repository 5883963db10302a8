-- What came of a job, and links that sign a person in as a client.

-- Which deliveries a job was about, for as long as the job is kept. job_items is what it still has to do, and
-- empties; here they stay, so that each can be looked up as it is now.
create table job_deliveries (
  job_id uuid not null,
  delivery_id uuid not null,
  client_key integer not null,
  endpoint_id uuid not null,
  primary key (job_id, delivery_id, client_key)
);

-- Made by an operator for a person at the client. Each is good for one sign-in: using it deletes it. A table of
-- its own: a process of the version before would take any row of console_links for the operator's own link.
create table client_console_links (
  digest bytea primary key,
  client_key integer not null references clients,
  expires_at timestamptz not null,
  constraint client_link_digest_is_sha256 check (length(digest) = 32)
);
create index client_console_links_by_end on client_console_links (expires_at);

-- A session that a link has opened stands for the client, and for no secret of it.
alter table console_sessions drop constraint client_session_names_its_secret;
alter table console_sessions add constraint only_a_client_session_names_a_secret
  check (client_key is not null or client_secret_id is null);
