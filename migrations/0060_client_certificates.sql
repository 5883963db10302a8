-- The service's own certificates, which it shows to receivers that ask who calls. A row begins as a request, whose key was
-- made here, or whole, when it was imported; either way the private key is sealed and never leaves.

create table client_certificates (
  id uuid not null,
  name text not null,
  -- Of the certificate; of the request while there is none.
  subject text not null,
  private_key bytea not null,
  -- Null when the key was imported.
  request_pem text,
  -- The certificate and those that signed it. All four are null until it was signed.
  chain_pem text,
  fingerprint bytea,
  not_before timestamptz,
  not_after timestamptz,
  -- The one that endpoints mean which ask for "default".
  is_default boolean not null,
  created_at timestamptz not null,
  constraint client_certificates_pkey primary key (id),
  constraint certificate_is_whole check (num_nulls(chain_pem, fingerprint, not_before, not_after) in (0, 4)),
  constraint certificate_has_a_beginning check (num_nonnulls(request_pem, chain_pem) > 0),
  constraint only_a_whole_one_is_default check (chain_pem is not null or not is_default)
);
create unique index one_certificate_per_name on client_certificates (name);
create unique index one_default_certificate on client_certificates (is_default) where is_default;

-- Which of them an endpoint is shown: its id, or "default"; and whose word for the receiver's name is taken in place of the
-- public authorities'. Null: none was asked for.
alter table endpoints
  add column client_certificate text,
  add column certificate_authorities text[],
  add constraint certificate_authorities_are_few check (cardinality(certificate_authorities) between 1 and 10) not valid;
alter table endpoints validate constraint certificate_authorities_are_few;
create index endpoints_by_client_certificate on endpoints (client_certificate)
  where client_certificate is not null and deleted_at is null;
