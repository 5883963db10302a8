// Every statement that lists, looks up or counts, called as the operations call it.
// biome-ignore-all lint/style/noExcessiveLinesPerFile: it is one list.

import { parseDeliveryFilter } from '../../server/core/asking/delivery-filter.ts'
import type { EndpointOrder } from '../../server/core/asking/endpoint-orders.ts'
import { FEED_START } from '../../server/core/asking/feed-cursor.ts'
import { EVERYONE } from '../../server/core/certificates/certificate-clients.ts'
import { DAY_MS } from '../../server/core/delivery/backoff.ts'
import { noticePolicy } from '../../server/core/delivery/notice.ts'
import { findEarlierAddress } from '../../server/store/endpoints/earlier-addresses.ts'
import { readHealth } from '../../server/store/endpoints/endpoint-health.ts'
import { readEndpointHours, readHoursOf } from '../../server/store/endpoints/endpoint-hours.ts'
import {
  findAnyEndpoint,
  readHealthOf,
  readTroubled,
} from '../../server/store/endpoints/endpoint-lists.ts'
import {
  countAllEndpoints,
  listAllEndpoints,
  readEndpointMarks,
} from '../../server/store/endpoints/endpoint-pages.ts'
import {
  findByAddress,
  findEndpoint,
  findStatedEndpoint,
  listEndpoints,
  readEndpointsOfAccount,
} from '../../server/store/endpoints/endpoints.ts'
import {
  findInternalClient,
  findNoticeEndpoint,
} from '../../server/store/endpoints/internal-endpoints.ts'
import {
  readForgottenListeners,
  readSilentListeners,
} from '../../server/store/endpoints/listeners.ts'
import { readEndpointsToTell } from '../../server/store/endpoints/notices.ts'
import {
  countArrived,
  countGivenUp,
  readOwedFigures,
} from '../../server/store/history/client-figures.ts'
import {
  readAttempts,
  readDeliveriesOfEvents,
  readDeliveryDetail,
  readSuccess,
} from '../../server/store/history/delivery-details.ts'
import { readDeliverySlice } from '../../server/store/history/delivery-lists.ts'
import { readDeliveryNames } from '../../server/store/history/delivery-names.ts'
import { resolveDeliveryFilter } from '../../server/store/history/delivery-search.ts'
import { readEventsOfPayment } from '../../server/store/history/events.ts'
import { findEvent, readFeed } from '../../server/store/history/feed.ts'
import {
  countAllEndpointsByHealth,
  countEndpointsByHealth,
} from '../../server/store/history/health-counts.ts'
import {
  countJobEndpoints,
  countJobOutcome,
  nameEndpoints,
} from '../../server/store/history/job-deliveries.ts'
import {
  countRunningJobs,
  findJob,
  findLeftJobs,
  listJobs,
  readItems,
} from '../../server/store/history/jobs.ts'
import { countDeliveries } from '../../server/store/history/payment-deliveries.ts'
import {
  findEventHit,
  findHolderById,
  findNamedAccounts,
  findNamedClients,
  findNamedEndpoints,
  findPaymentHits,
} from '../../server/store/history/search-hits.ts'
import { readDatabaseGauges } from '../../server/store/history/service-figures.ts'
import {
  readAttemptSteps,
  readEndedDays,
  readFinalCounts,
  readOwedPicture,
  readProcesses,
} from '../../server/store/history/stats.ts'
import { readCertificateChoices } from '../../server/store/moves/move-certificates.ts'
import { findKeptLink } from '../../server/store/payments/document-links.ts'
import { findByExternalId, readPaymentSlice } from '../../server/store/payments/payment-lists.ts'
import { readLatestPaymentText, readPayment } from '../../server/store/payments/payments.ts'
import {
  findImpossibleRow,
  findNewestUnplaced,
  findRowBelow,
  findSegmentSealedFrom,
  hasUnplacedRows,
  readOldestUnsealed,
  readPlacedRows,
  readSealedRange,
  readSealHead,
  readSegments,
  readUnsealed,
} from '../../server/store/proofs/audit-segments.ts'
import { listAudit } from '../../server/store/proofs/audit-table.ts'
import { readSealProgress } from '../../server/store/proofs/seal-progress.ts'
import { readLastDrop } from '../../server/store/removal/audit-segment-retention.ts'
import { readClientKeys } from '../../server/store/removal/payment-retention.ts'
import { readDefaultRows } from '../../server/store/schema/default-partitions.ts'
import { countAccounts, listAccounts } from '../../server/store/secrets/accounts.ts'
import { readCertificateEnds } from '../../server/store/secrets/certificate-ends.ts'
import {
  countCertificateUses,
  countChoices,
  readCertificates,
} from '../../server/store/secrets/client-certificates.ts'
import {
  listClientKeys,
  readForeignClientKeys,
  readKeysOfClient,
} from '../../server/store/secrets/client-keys.ts'
import { listSecrets, readCredentials } from '../../server/store/secrets/client-secrets.ts'
import {
  CLIENT_ORDERS,
  findClient,
  findClientKeys,
  listClients,
  readClientId,
  readClientIds,
} from '../../server/store/secrets/clients.ts'
import { findSession } from '../../server/store/secrets/console-sessions.ts'
import { countSecretsByMasterKey } from '../../server/store/secrets/master-keys.ts'
import { listKeys, readLiveKeys } from '../../server/store/secrets/operator-keys.ts'
import {
  countForeignDigests,
  readEndpointsToReseal,
  readPrivateKeysToReseal,
  readSealedEndpoints,
} from '../../server/store/secrets/reseal.ts'
import {
  readFormAndBound,
  readLoneVersion,
  readOtherVersions,
  readSealingForm,
} from '../../server/store/secrets/sealing-form.ts'
import { readRevokedWebhookKeys, readSigningKeys } from '../../server/store/secrets/signing-keys.ts'
import { type DeliveryQuery, EVERY_DELIVERY } from '../../server/store/sql/delivery-query.ts'
import type { Recorder } from './recorder.ts'
import type { Sample } from './sample.ts'

const PAGE = { number: 0, size: 20 }
const LAST = 'ffffffff-ffff-7fff-bfff-ffffffffffff'
const NOBODY = '00000000-0000-0000-0000-000000000000'
const PREFIX = Buffer.alloc(5)

export async function callReads(recorder: Recorder, sample: Sample): Promise<void> {
  await deliveries(recorder, sample)
  await payments(recorder, sample)
  await endpoints(recorder, sample)
  await numbers(recorder, sample)
  await seals(recorder, sample)
  await credentials(recorder, sample)
}

async function deliveries(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { clientKey, endpointId, accountId, paymentId, eventId, now } = sample
  const [delivered] = sample.delivered
  if (delivered === undefined) throw new Error('the world has delivered nothing')
  const queries: Record<string, Partial<DeliveryQuery>> = {
    'of all': {},
    'of a client': { clientKey },
    'of an account': { clientKey, accountId },
    'of an endpoint': { clientKey, endpointId },
    'of a payment': { payments: [{ clientKey, paymentId }] },
    'of an event': { event: { clientKey, eventId } },
    'of a payment and an event, with an id': {
      payments: [{ clientKey, paymentId }],
      event: { clientKey, eventId },
      deliveryId: delivered.id,
    },
    'with an id': { deliveryId: delivered.id },
    'of rare states': { states: ['EXHAUSTED', 'CANCELLED'] },
    'of rare states of a client': { clientKey, states: ['EXHAUSTED', 'CANCELLED'] },
    'of rare states of an endpoint': { clientKey, endpointId, states: ['EXHAUSTED'] },
    'of a time': { clientKey, fromMs: now.getTime() - 3 * DAY_MS, toMs: now.getTime() },
    'of a kind': { clientKey, kind: 'payment.paid' },
    'with an outcome': {
      states: ['PENDING', 'EXHAUSTED'],
      outcomes: { codes: ['timeout'], statuses: [{ from: 500, to: 599 }], isUntried: true },
    },
    'of a job': { jobId: sample.jobId },
  }
  const reach = { beforeId: null, limit: 20, chunk: 100 }
  for (const [label, query] of Object.entries(queries)) {
    await recorder.record(label, () =>
      readDeliverySlice(pool, { ...EVERY_DELIVERY, ...query }, reach),
    )
  }
  await recorder.record('of all, next page', () =>
    readDeliverySlice(pool, EVERY_DELIVERY, { ...reach, beforeId: delivered.id }),
  )
  for (const [label, of] of [
    ['of a client', { clientKey: delivered.clientKey, accountId: null }],
    ['of all', { clientKey: null, accountId: null }],
  ] as const) {
    await recorder.record(label, async () => {
      const detail = await readDeliveryDetail(pool, delivered.id, of)
      if (detail === null) return
      await readAttempts(pool, detail)
      // As of one that is being replayed.
      await readSuccess(pool, { ...detail, finishedAt: null })
    })
  }
  await recorder.record('', () => findKeptLink(pool, { clientKey, eventId, endpointId }))
  await recorder.record('', () => findEarlierAddress(pool, { clientKey, endpointId }, sample.now))
  await recorder.record('', () => readDeliveriesOfEvents(pool, clientKey, [eventId]))
  await recorder.record('', () => readDeliveryNames(pool, [{ clientKey, accountId, paymentId }]))
  await recorder.record('', () => countDeliveries(pool, clientKey, [paymentId]))
  const filters = { clientId: sample.clientId, accountId, endpointId, paymentId, eventId }
  for (const [name, value] of Object.entries(filters)) {
    const filter = { ...parseDeliveryFilter({}), [name]: value }
    await recorder.record(`by ${name}`, () => resolveDeliveryFilter(pool, filter, null))
  }
  const search = { ...parseDeliveryFilter({}), search: 'INV-1' }
  await recorder.record('by search', () => resolveDeliveryFilter(pool, search, null))
  const ofPayment = { ...search, paymentId }
  await recorder.record('by search of a payment', () =>
    resolveDeliveryFilter(pool, ofPayment, null),
  )
  await searches(recorder, sample)
}

async function searches(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { clientKey, endpointId, eventId, paymentId } = sample
  await recorder.record('', () => findNamedClients(pool, 'client 4'))
  for (const [label, of] of [
    ['of all', { clientKey: null, accountId: null }],
    ['of a client', { clientKey, accountId: null }],
  ] as const) {
    await recorder.record(label, () => findNamedEndpoints(pool, 'receiver te', of))
    await recorder.record(label, () => findNamedAccounts(pool, 'mai', of))
    await recorder.record(label, () => findHolderById(pool, endpointId, of))
    await recorder.record(label, () => findPaymentHits(pool, [{ clientKey, paymentId }], of))
    await recorder.record(label, () => findEventHit(pool, eventId, of))
  }
}

async function payments(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { clientKey, paymentId, now } = sample
  const every = {
    clientKey: null,
    clientId: null,
    accountId: null,
    state: null,
    fromMs: null,
    toMs: null,
    paymentId: null,
    externalId: null,
  }
  const reach = { before: null, limit: 20, chunk: 100 }
  const queries = {
    'of all': {},
    'of a client': { clientId: sample.clientId },
    'of an account': { accountId: sample.accountId },
    'in a state': { state: 'PAID' as const },
    'of a time': { fromMs: now.getTime() - DAY_MS, toMs: now.getTime() },
    'with an id': { paymentId },
    'with an external id': { externalId: 'INV-1' },
  }
  for (const [label, query] of Object.entries(queries)) {
    await recorder.record(label, () => readPaymentSlice(pool, { ...every, ...query }, reach))
  }
  await recorder.record('of all, next page', () =>
    readPaymentSlice(pool, every, { ...reach, before: { acceptedAt: now, id: paymentId } }),
  )
  await recorder.record('of a client', () => findByExternalId(pool, 'INV-1', clientKey, 200))
  await recorder.record('', () => readPayment(pool, paymentId, null))
  for (const key of [clientKey, -1]) {
    await recorder.record('', () => readLatestPaymentText(pool, key))
  }
  const page = { limit: 20, beforeSequence: null }
  await recorder.record('', () => readEventsOfPayment(pool, clientKey, paymentId, page))
  // From the midst of a stretch: thousands are before the position, and thousands after it.
  const after = { ...FEED_START, position: '25000' }
  const seenUntilMs = now.getTime() - 3 * DAY_MS
  await recorder.record('', () => readFeed(pool, clientKey, after, 100, seenUntilMs))
  await recorder.record('', () => findEvent(pool, { clientKey, accountId: null }, sample.eventId))
  await recorder.record('', () => readClientKeys(pool))
}

async function endpoints(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { clientKey, accountId, endpointId, now } = sample
  const scope = { clientKey, kind: 'webhook', accountId } as const
  await recorder.record('', () => findByAddress(pool, scope, Buffer.alloc(32)))
  await recorder.record('', () => findEndpoint(pool, scope, endpointId))
  await recorder.record('', () => findStatedEndpoint(pool, scope, endpointId))
  await recorder.record('', () => readEndpointsOfAccount(pool, clientKey, scope.accountId))
  await recorder.record('', () => listEndpoints(pool, [{ scope, page: PAGE }]))
  await recorder.record('', () => findAnyEndpoint(pool, endpointId))
  const every = {
    clientKey: null,
    clientId: null,
    accountId: null,
    kind: null,
    status: null,
    isFailing: null,
    search: null,
    order: 'createdAt' as EndpointOrder,
  }
  const filters = {
    'of all': {},
    'of a client': { clientId: sample.clientId },
    'of an account': { accountId },
    'of its client': { clientKey },
    'of an account of its client': { clientKey, accountId },
    'by words, of its client': { clientKey, search: 'receiver te' },
    'by an id, of its client': { clientKey, search: endpointId },
    'failing, of its client': { clientKey, isFailing: true },
    'by address, of its client': { clientKey, order: 'endpointUrl' as const },
    'by failures, of its client': { clientKey, order: '-failingSince' as const },
    'of a kind': { kind: 'webhook' as const },
    'in a status': { status: 'DISABLED' as const },
    'by words': { search: 'receiver te' },
    'by an id': { search: endpointId },
    failing: { isFailing: true },
    'not failing': { isFailing: false },
    'by address': { order: 'endpointUrl' as const },
    'failing, the longest first': { isFailing: true, order: 'failingSince' as const },
  }
  for (const [label, filter] of Object.entries(filters)) {
    await recorder.record(label, () => listAllEndpoints(pool, { ...every, ...filter }, PAGE, null))
  }
  const counted = { total: 1_000_000, mark: null }
  const mark = { rank: 20, createdAt: now.toISOString(), id: endpointId }
  const far = { number: 1, size: 20 }
  await recorder.record('of all, at a mark', () =>
    listAllEndpoints(pool, every, far, { ...counted, mark }),
  )
  await recorder.record('by words that many have', () =>
    listAllEndpoints(pool, { ...every, search: 'receiver' }, PAGE, counted),
  )
  await recorder.record('', () => countAllEndpoints(pool, every))
  await recorder.record('', () => readEndpointMarks(pool, 20_000))
  const some = sample.pending.slice(0, 20).map((row) => ({ ...row, id: row.endpointId }))
  await recorder.record('', () => readHealth(pool, clientKey, endpointId, now))
  await recorder.record('', () => readHealthOf(pool, some, now))
  await recorder.record('', () => readEndpointHours(pool, some, now))
  await recorder.record('', () => readHoursOf(pool, { clientKey, id: endpointId }, now))
  await recorder.record('', () => readTroubled(pool, 20, now))
  await recorder.record('', () => readSilentListeners(pool, now, 20))
  await recorder.record('', () => readForgottenListeners(pool, now, 20))
  await recorder.record('', () => findInternalClient(pool))
  await recorder.record('', () => findNoticeEndpoint(pool, 200))
  await recorder.record('', () =>
    readEndpointsToTell(pool, 200, noticePolicy(), { now, limit: 100 }),
  )
}

async function numbers(recorder: Recorder, { now, jobId, clientKey }: Sample): Promise<void> {
  const { pool } = recorder
  for (const read of [readOwedFigures, countArrived, countGivenUp]) {
    await recorder.record('', () => read(pool, clientKey, now))
  }
  await recorder.record('', () => countEndpointsByHealth(pool, clientKey))
  await recorder.record('', () => countAllEndpointsByHealth(pool))
  await recorder.record('', () => readFinalCounts(pool))
  await recorder.record('', () => readEndedDays(pool, now))
  await recorder.record('', () => readOwedPicture(pool, [now, new Date(now.getTime() + 60_000)]))
  await recorder.record('', () => readProcesses(pool))
  await recorder.record('', () => readAttemptSteps(pool, 60, new Date(now.getTime() - DAY_MS)))
  await recorder.record('', () => readDatabaseGauges(pool, now, 5_000))
  await recorder.record('', () => readDefaultRows(pool))
  await recorder.record('', () => countRunningJobs(pool))
  await recorder.record('', () => findJob(pool, NOBODY))
  await recorder.record('', () => findLeftJobs(pool, { runner: NOBODY, until: now, now }, 10))
  await recorder.record('', () => listJobs(pool, PAGE))
  await recorder.record('', () => countJobOutcome(pool, jobId, now))
  await recorder.record('', async () => {
    const counts = await countJobEndpoints(pool, jobId)
    await nameEndpoints(pool, counts.slice(0, 20))
  })
  await recorder.record('', () => readItems(pool, NOBODY, 0, 100))
  await recorder.record('of all', () => listAudit(pool, {}, { limit: 20, beforeId: null }))
  const from = new Date(now.getTime() - DAY_MS)
  // By what is rare: what no index leads to is looked for in all rows.
  const filters = {
    'by actor': { actor: 'nobody' },
    'by action': { action: 'client.create' },
    'by object': { object: 'payment:1' },
    'of a time': { from, to: now },
    'without payments': { hasPaymentWrites: false },
  }
  for (const [label, filter] of Object.entries(filters)) {
    await recorder.record(label, () => listAudit(pool, filter, { limit: 20, beforeId: LAST }))
  }
}

async function seals(recorder: Recorder, { now }: Sample): Promise<void> {
  const { pool } = recorder
  await recorder.record('', () => readSealHead(pool))
  await recorder.record('', () => readSegments(pool, 0, 20))
  await recorder.record('', () => findSegmentSealedFrom(pool, now))
  await recorder.record('', () => findNewestUnplaced(pool))
  await recorder.record('', () => findRowBelow(pool))
  await recorder.record('', () => readSealedRange(pool))
  await recorder.record('', () => readLastDrop(pool))
  await recorder.record('', () => hasUnplacedRows(pool))
  await recorder.record('', () => readUnsealed(pool, '0', 10_001))
  await recorder.record('', () => readOldestUnsealed(pool, '30900'))
  await recorder.record('', () => readPlacedRows(pool, '20000', '21000', 2_000))
  await recorder.record('', () => findImpossibleRow(pool))
  await recorder.record('', () => readSealProgress(pool))
}

async function credentials(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { clientId, clientKey, now } = sample
  const dummy = { digest: Buffer.alloc(32), masterKeyId: 'k1' }
  await recorder.record('', () => readCredentials(pool, [clientId], dummy))
  await recorder.record('', () => listSecrets(pool, clientKey))
  await recorder.record('', () => listClientKeys(pool, clientKey))
  await recorder.record('', () => readKeysOfClient(pool, clientId))
  const noKey = { clientKey: 0, kid: '' }
  await recorder.record('', () => readForeignClientKeys(pool, 'aabbccdd', noKey, 500))
  await recorder.record('', () => findClient(pool, clientId))
  await recorder.record('', () => readClientId(pool, clientKey))
  for (const order of CLIENT_ORDERS) {
    await recorder.record(`by ${order}`, () => listClients(pool, { search: null, order }, PAGE))
  }
  for (const search of ['client 4', clientId]) {
    const label = search === clientId ? 'with an id' : 'by words'
    await recorder.record(label, () => listClients(pool, { search, order: 'name' }, PAGE))
  }
  await recorder.record('', () => listAccounts(pool, clientKey, PAGE, null))
  await recorder.record('that were counted', () => listAccounts(pool, clientKey, PAGE, 1_000_000))
  await recorder.record('', () => countAccounts(pool, clientKey))
  await recorder.record('', () => findSession(pool, Buffer.alloc(32), now))
  await recorder.record('', () => readLiveKeys(pool))
  await recorder.record('', () => readCertificates(pool))
  await recorder.record('', () => countCertificateUses(pool))
  await recorder.record('', () =>
    countChoices(pool, ['default'], { of: EVERYONE, notOf: [clientKey] }),
  )
  await recorder.record('', () => findClientKeys(pool, [clientId]))
  await recorder.record('', () => readClientIds(pool, [clientKey]))
  await recorder.record('', () => readCertificateEnds(pool))
  await recorder.record('', () => readCertificateChoices(pool, clientKey))
  await recorder.record('of client_certificates', () =>
    readPrivateKeysToReseal(pool, 'client_certificates', PREFIX),
  )
  await recorder.record('', () => listKeys(pool, PAGE))
  for (const table of ['signing_keys', 'webhook_keys'] as const) {
    await recorder.record(`of ${table}`, () => readSigningKeys(pool, table))
    await recorder.record(`of ${table}`, () => readPrivateKeysToReseal(pool, table, PREFIX))
  }
  await recorder.record('', () => readRevokedWebhookKeys(pool))
  await recorder.record('', () => readSealingForm(pool))
  await recorder.record('', () => readFormAndBound(pool))
  await recorder.record('', () => readLoneVersion(pool))
  await recorder.record('', () => readOtherVersions(pool, '0.2.0', 10_000))
  await recorder.record('', () => countSecretsByMasterKey(pool))
  await recorder.record('', () => countForeignDigests(pool, 'k2'))
  const first = { clientKey: 0, id: NOBODY }
  await recorder.record('', () => readEndpointsToReseal(pool, PREFIX, first, 100))
  await recorder.record('', () => readSealedEndpoints(pool, first, 100))
}
