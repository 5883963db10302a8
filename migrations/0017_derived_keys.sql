-- Which keys secrets are written under: the master key itself, as the first release did, or keys that are
-- derived from it, one for AES and one for HMAC. Every process of this release reads both; the version
-- before reads only the first. So a database with secrets goes on as it was until `paybell reseal` is run,
-- which the operator does when no process of the version before is needed any more.

create table sealing (
  is_only boolean not null default true,
  is_derived boolean not null,
  constraint sealing_pkey primary key (is_only),
  constraint there_is_one_row check (is_only)
);

-- Where nothing is sealed yet, nobody could miss it.
insert into sealing (is_derived)
select not exists (select from client_secrets) and not exists (select from signing_keys)
  and not exists (select from operator_keys) and not exists (select from endpoints);
