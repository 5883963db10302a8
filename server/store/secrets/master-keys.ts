// Which master keys the stored secrets still need. A key may be taken out of the settings only when
// nothing is left under it: what it seals cannot be opened without it, and what it authenticates is not trusted.

import type { Db } from '../connection/db.ts'

/** How many stored secrets each master key carries, by the key's id. */
export async function countSecretsByMasterKey(db: Db): Promise<ReadonlyMap<string, number>> {
  // A sealed text names its master key in the bytes after its form, a digest before a mark (store/secrets/sealing).
  const { rows } = await db.query<{ id: string; count: number }>({
    name: 'count-secrets-by-master-key',
    text: `select id, count(*) as count from (
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
             select encode(substring(binding_authentication from 1 for 4), 'hex') from sealing
             where binding_authentication is not null
             union all
             select encode(substring(sealed from 2 for 4), 'hex')
             from endpoints, unnest(array[shared_key, previous_key, header_value, oauth2_secret]) as sealed
             where sealed is not null and deleted_at is null
           ) as secret group by id order by id`,
  })
  return new Map(rows.map((row) => [row.id, row.count]))
}
