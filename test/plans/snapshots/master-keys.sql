-- The statements of server/store/secrets/master-keys.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- master-keys.countSecretsByMasterKey: kept as count-secrets-by-master-key
prepare "master-keys.countSecretsByMasterKey" as
  select id, count(*) as count from (
    select split_part(master_key_id, '/', 1) as id from client_secrets
    union all
    select split_part(master_key_id, '/', 1) from operator_keys where revoked_at is null
    union all
    select encode(substring(private_key from 2 for 4), 'hex') from signing_keys
    union all
    select encode(substring(private_key from 2 for 4), 'hex') from webhook_keys
    where private_key is not null
    union all
    select encode(substring(private_key from 2 for 4), 'hex') from client_certificates
    union all
    select encode(substring(authentication from 1 for 4), 'hex')
    from (select authentication from signing_keys
      union all select authentication from webhook_keys
      union all select authentication from client_keys) as keys
    where authentication is not null
    union all
    select encode(substring(sealed from 2 for 4), 'hex')
    from endpoints, unnest(array[shared_key, previous_key, header_value, oauth2_secret]) as sealed
    where sealed is not null and deleted_at is null
  ) as secret group by id order by id;
