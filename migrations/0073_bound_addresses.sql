-- What is sealed for an endpoint is bound to the address that it is sent to: whoever changes the address in the table, and
-- has no master key, changes it into one that nothing is sent to. Every process of this release reads both forms; the
-- version before reads only the one without the address. So a database with secrets goes on as it was ('none') until no
-- process of the version before has lived for a day, or `paybell reseal` is run. From then on everything is written bound
-- ('begun'), and once nothing unbound is left ('done'), nothing unbound is opened any more.
--
-- How far it is says a holder of the master key: the authentication is of that word.
--
-- A constant as default: the table has one row.
alter table sealing
  add column binding text not null default 'none',
  add column binding_authentication bytea,
  -- The only version that has lived since when, and when that was last looked at.
  add column lone_version text,
  add column lone_since timestamptz,
  add column lone_seen_at timestamptz;

alter table sealing
  add constraint binding_is_known check (binding in ('none', 'begun', 'done'));

-- Where nothing is sealed yet, everything is bound from the start.
update sealing set binding = 'begun'
where not exists (select from client_secrets) and not exists (select from signing_keys)
  and not exists (select from operator_keys) and not exists (select from endpoints);
