-- A client certificate of the service is for the clients that it is given to: only they see it, choose it, and have it shown
-- to their receivers. By their keys, which are this cell's own; a few for each of at most 50 certificates, all read at once.
-- What the version before inserts is for no one, until the operator says for whom.
--
-- Constants as defaults: no table is rewritten, and the lock lasts for a moment.
alter table client_certificates
  add column is_for_everyone boolean not null default false,
  add column client_keys integer[] not null default '{}',
  add constraint everyone_is_not_named check (not is_for_everyone or client_keys = '{}');

-- Those that are there stay shown to the receivers that meet them today, and to no others.
update client_certificates c set client_keys = array(
  select distinct e.client_key from endpoints e
  where e.deleted_at is null
    and (e.client_certificate = c.id::text or (c.is_default and e.client_certificate = 'default'))
  order by e.client_key);
