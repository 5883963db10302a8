// The twin and PostgreSQL side by side: each operation is done to both, their answers and their states
// are compared. What differs by nature (ids drawn by the database, its clock) is taken over from it.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import type { Config } from '../../server/config/config.ts'
import { policiesOf } from '../../server/config/policies.ts'
import { shardOf } from '../../server/core/delivery/endpoint.ts'
import type { EventChoice } from '../../server/core/delivery/endpoint-settings.ts'
import { LEASE_POLICY } from '../../server/core/delivery/lease.ts'
import type { PaymentWrite } from '../../server/core/payments/payment.ts'
import { UuidMaker } from '../../server/core/plain/uuid.ts'
import type { DeliveryStore } from '../../server/delivery/seams/delivery-store.ts'
import { postgresDeliveryStore } from '../../server/delivery/seams/postgres-delivery-store.ts'
import { recordingOn } from '../../server/operations/accepting/postgres-payment-store.ts'
import { recordPayments } from '../../server/operations/accepting/record-payments.ts'
import { AccountDirectory } from '../../server/operations/access/account-directory.ts'
import { cancelDelivery } from '../../server/operations/deliveries/cancel-delivery.ts'
import { replayDelivery } from '../../server/operations/deliveries/replay-delivery.ts'
import { retryDelivery } from '../../server/operations/deliveries/retry-delivery.ts'
import { retryEndpoint } from '../../server/operations/deliveries/retry-endpoint.ts'
import { RetryLimits } from '../../server/operations/deliveries/retry-limits.ts'
import { changeEndpoint } from '../../server/operations/endpoints/change-endpoint.ts'
import { deleteEndpoint } from '../../server/operations/endpoints/delete-endpoint.ts'
import { saveEndpoint } from '../../server/operations/endpoints/save-endpoint.ts'
import { CallbackLinks } from '../../server/operations/shared/callback-links.ts'
import type { Deps } from '../../server/operations/shared/deps.ts'
import { createEndpointChanges } from '../../server/operations/shared/endpoint-changes.ts'
import { insertClient } from '../../server/store/secrets/clients.ts'
import { Sealer } from '../../server/store/secrets/sealing.ts'
import { keyOf } from '../simulator/key-ring.ts'
import { Twin } from '../simulator/twin.ts'
import { cancelDelivery as twinCancel } from '../simulator/twin-cancellations.ts'
import * as twinEndpoints from '../simulator/twin-endpoints.ts'
import { replayDelivery as twinReplay } from '../simulator/twin-replays.ts'
import * as twinRetries from '../simulator/twin-retries.ts'
import type { TestDatabase } from '../support/database.ts'
import { readState, type State, twinState } from './states.ts'
import { twinPaymentStore } from './twin-payment-store.ts'

const POLICY = LEASE_POLICY

/** What an endpoint may hear, in random operations. */
export const FILTERS: readonly (readonly EventChoice[] | null)[] = [
  null,
  ['payment.*'],
  ['payment.created'],
  ['payment.updated', 'payment.due'],
]

export class BothStores {
  readonly twin = new Twin(Array.from({ length: 64 }, (_, shard) => shard))
  readonly processes = [randomUUID(), randomUUID()] as const
  readonly accountId = randomUUID()
  readonly endpointIds: string[] = []
  nowMs = 1_800_000_000_000
  clientKey = 0
  readonly database: TestDatabase
  readonly #stores: readonly DeliveryStore[]
  readonly deps: Deps
  readonly #accounts: AccountDirectory
  readonly #ids: string[] = []
  readonly #limits = new RetryLimits({ monotonicMs: () => this.nowMs })

  constructor(database: TestDatabase) {
    this.database = database
    const { pool } = database
    const sealer = new Sealer([randomBytes(32)])
    const ids = new UuidMaker(() => this.nowMs, randomBytes)
    this.#stores = this.processes.map((id) =>
      postgresDeliveryStore(pool, sealer, { id, host: 'test', version: '0' }, POLICY),
    )
    this.#accounts = new AccountDirectory(pool)
    this.deps = {
      pool,
      clock: { nowMs: () => this.nowMs, monotonicMs: () => 0 },
      config: { endpointsMax: 50 } as Config,
      policies: policiesOf({ timeScale: 1, orderPatienceMs: 3_600_000 }),
      sealer,
      webhookKeys: {
        signers: async () => [],
        publicKeys: async () => [],
        signStatement: () => Promise.reject(new Error('nothing is stated here')),
      },
      targets: { loopbackAllowed: false, allowedNetworks: [] },
      send: () => Promise.reject(new Error('nothing is sent here')),
      newId: () => {
        const id = ids.next()
        this.#ids.push(id)
        return id
      },
      engine: { beginAccept: () => () => {}, endpointChanged() {}, endpointRetried() {} },
      endpointChanges: createEndpointChanges({ requestsPerSecond: 200 }),
      shownCertificates: { forget() {} },
      callbackLinks: new CallbackLinks(pool, sealer, () => 'https://paybell.test'),
    }
  }

  async prepare(): Promise<void> {
    const { pool } = this.database
    const client = await insertClient(pool, { id: randomUUID(), name: 'c' }, new Date(this.nowMs))
    this.clientKey = client.clientKey
    await pool.query(
      'insert into accounts (client_key, id, name, created_at) values ($1, $2, $3, $4)',
      [this.clientKey, this.accountId, 'a', new Date(this.nowMs)],
    )
  }

  /** PostgreSQL's store and the twin's word for the same process. */
  store(process: 0 | 1): DeliveryStore {
    return this.#stores[process] as DeliveryStore
  }

  async sameState(what: string): Promise<void> {
    const found: State = await readState(this.database.pool)
    assert.deepEqual(twinState(this.twin), found, `states differ after ${what}`)
  }

  async register(number: number, isSubscription: boolean): Promise<void> {
    const url = `https://e${number}.example/`
    const accountId = isSubscription ? null : this.accountId
    const id = await saveEndpoint(this.deps, this.requestFor(url, accountId, `e${number}k0`))
    this.endpointIds.push(id)
    const { clientKey } = this
    const key = keyOf(`e${number}k0`)
    const endpoint = { clientKey, id, accountId, shard: shardOf(id), url, key }
    twinEndpoints.registerEndpoint(this.twin, endpoint, this.nowMs)
  }

  async rotate(endpointId: string, keyName: string): Promise<void> {
    const endpoint = this.twin.tables.endpoints.get(endpointId)
    if (!endpoint || endpoint.deletedAtMs !== null) return
    await saveEndpoint(this.deps, this.requestFor(endpoint.url, endpoint.accountId, keyName))
    twinEndpoints.rotateKey(this.twin, endpointId, keyOf(keyName), this.nowMs)
  }

  async change(endpointId: string, status: 'ACTIVE' | 'PAUSED'): Promise<void> {
    const isThere = twinEndpoints.changeStatus(this.twin, endpointId, status, this.nowMs)
    const asked = changeEndpoint(this.deps, this.scopeOf(endpointId), endpointId, {
      status,
      settings: {},
    })
    if (isThere) await asked
    else await assert.rejects(asked)
  }

  async hear(endpointId: string, events: readonly EventChoice[] | null): Promise<void> {
    const isThere = twinEndpoints.changeEvents(this.twin, endpointId, events, this.nowMs)
    const asked = changeEndpoint(this.deps, this.scopeOf(endpointId), endpointId, {
      status: null,
      settings: { events },
    })
    if (isThere) await asked
    else await assert.rejects(asked)
  }

  async remove(endpointId: string): Promise<void> {
    const isThere = twinEndpoints.deleteEndpoint(this.twin, endpointId, this.nowMs)
    const asked = deleteEndpoint(this.deps, this.scopeOf(endpointId), endpointId)
    if (isThere) await asked
    else await assert.rejects(asked)
  }

  /** The same recordPayments on both; ids that PostgreSQL has drawn are the twin's too. */
  async accept(changes: readonly PaymentWrite[]): Promise<void> {
    const { accountId, clientKey } = this
    const given = changes.map((write) => ({ accountId, write }))
    this.takeIds()
    const found = await recordPayments(recordingOn(this.deps, this.#accounts), given)
    const eventIds = this.takeIds()
    const recorded = await recordPayments(
      {
        payments: twinPaymentStore(this.twin),
        accounts: { find: async () => new Map([[accountId, clientKey]]) },
        clock: this.deps.clock,
        newId: () => eventIds.shift() as string,
      },
      given,
    )
    const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)
    assert.deepEqual(recorded.deliveries.toSorted(byId), found.deliveries.toSorted(byId))
    assert.deepEqual(recorded.results, found.results)
  }

  async replay(deliveryId: string): Promise<void> {
    const owner = { clientKey: this.clientKey, accountId: null }
    const asked = replayDelivery(this.deps, owner, deliveryId)
    const again = twinReplay(this.twin, deliveryId, this.nowMs)
    if (again === null) {
      await assert.rejects(asked, /pending|deleted/)
      return
    }
    const { attempts, nextAttemptAt } = await asked
    assert.equal(again.attempts, attempts)
    assert.equal(again.nextAttemptAtMs, nextAttemptAt?.getTime() ?? null)
  }

  async retry(deliveryId: string): Promise<void> {
    const owner = { clientKey: this.clientKey, accountId: null }
    const asked = retryDelivery(this.deps, owner, deliveryId)
    const moved = twinRetries.retryDelivery(this.twin, deliveryId, this.nowMs)
    const own = moved?.find(({ id }) => id === deliveryId)
    if (own === undefined) {
      await assert.rejects(asked, /has ended|paused or disabled/)
      return
    }
    const { attempts, nextAttemptAt } = await asked
    assert.equal(own.attempts, attempts)
    assert.equal(own.nextAttemptAtMs, nextAttemptAt?.getTime() ?? null)
  }

  async cancel(deliveryId: string): Promise<void> {
    const owner = { clientKey: this.clientKey, accountId: null }
    const row = this.twin.tables.pending.get(deliveryId)
    const asked = cancelDelivery(this.deps, owner, deliveryId, async () => {})
    twinCancel(this.twin, deliveryId, this.nowMs)
    if (row === undefined) await assert.rejects(asked, /has ended/)
    else assert.equal((await asked).attempts, row.attempts)
  }

  async retryEndpoint(endpointId: string): Promise<void> {
    const owed = twinRetries.retryEndpoint(this.twin, endpointId, this.nowMs)
    const asked = retryEndpoint(this.deps, this.scopeOf(endpointId), endpointId, this.#limits)
    if (owed === null) await assert.rejects(asked)
    else assert.equal(owed.length, await asked)
  }

  /** A process of the version before renews: it changes the time, and raises no beat. */
  async renewAsBefore(shards: readonly number[]): Promise<void> {
    const { rows } = await this.database.pool.query<{ shard: number }>(
      `update leases set expires_at = clock_timestamp() + interval '25 seconds'
       where owner is not null and shard = any($1::smallint[]) returning shard`,
      [shards],
    )
    for (const { shard } of rows) {
      const lease = this.twin.tables.leases.get(shard)
      // Later than any that the twin knows of.
      if (lease) lease.expiresAtMs += 1
    }
  }

  /** Those that PostgreSQL's side has drawn since the last call. */
  takeIds(): string[] {
    return this.#ids.splice(0)
  }

  /** The database's clock jumps: every lease is past its time, and yet its owner's. */
  async setPastTheirTime(): Promise<void> {
    await this.database.pool.query(
      "update leases set expires_at = expires_at - interval '1 day' where owner is not null",
    )
    for (const lease of this.twin.tables.leases.values()) lease.expiresAtMs -= 86_400_000
  }

  scopeOf(endpointId: string) {
    const accountId = this.twin.tables.endpoints.get(endpointId)?.accountId ?? null
    const kind = accountId === null ? ('subscription' as const) : ('webhook' as const)
    return { clientKey: this.clientKey, kind, accountId }
  }

  requestFor(url: string, accountId: string | null, keyName: string) {
    return {
      clientKey: this.clientKey,
      kind: accountId === null ? ('subscription' as const) : ('webhook' as const),
      accountId,
      url,
      href: url,
      sharedKey: `shared key ${keyName}`,
      header: null,
    }
  }
}

export { POLICY }
