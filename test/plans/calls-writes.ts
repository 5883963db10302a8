// Every other statement that writes: what clients and operators change, and what upkeep does.
// biome-ignore-all lint/style/noExcessiveLinesPerFile: it is one list.

import { DAY_MS } from '../../server/core/delivery/backoff.ts'
import { DEFAULT_SETTINGS } from '../../server/core/delivery/endpoint-settings.ts'
import { inTransaction } from '../../server/store/connection/db.ts'
import {
  insertEndpoint,
  lockEndpoint,
  markDeleted,
  replaceAddress,
  replaceHeader,
  replaceKey,
  replaceSettings,
  saveStatus,
} from '../../server/store/endpoints/endpoints.ts'
import {
  ensureInternalClient,
  insertNoticeEndpoint,
} from '../../server/store/endpoints/internal-endpoints.ts'
import {
  answerOffer,
  collectAnswers,
  deleteOldOffers,
  findOffered,
  giveOfferBack,
  insertOffer,
  takeOffer,
  withdrawOffer,
  withdrawUntaken,
} from '../../server/store/endpoints/listener-offers.ts'
import {
  dropDeletedListeners,
  insertListener,
  markSilent,
  touchListener,
} from '../../server/store/endpoints/listeners.ts'
import {
  beginNotices,
  countExhausted,
  forgetDeleted,
  lockNotices,
  saveTold,
  tryLockNotices,
} from '../../server/store/endpoints/notices.ts'
import { beginCheck, endCheck } from '../../server/store/endpoints/receiver-checks.ts'
import {
  countFit,
  noteItems,
  readOwedKeys,
} from '../../server/store/history/delivery-selections.ts'
import {
  deleteOldJobs,
  finishJob,
  holdJob,
  insertJob,
  noteFailure,
  settleItems,
} from '../../server/store/history/jobs.ts'
import {
  deleteOldSteps,
  saveAttemptSteps,
  sumUpFinalCounts,
} from '../../server/store/history/stats.ts'
import {
  giveCertificates,
  renameCertificates,
  takeCertificatesBack,
} from '../../server/store/moves/move-certificates.ts'
import { cancelDeliveries, findStillPending } from '../../server/store/owed/cancellations.ts'
import { releaseDeliveriesOf } from '../../server/store/owed/deliveries.ts'
import { bringForward } from '../../server/store/owed/late-due-times.ts'
import { freeAllLeases } from '../../server/store/owed/leases.ts'
import { findFinal, findPending } from '../../server/store/owed/one-delivery.ts'
import { disableFailing } from '../../server/store/owed/parked.ts'
import { releaseStrands } from '../../server/store/owed/released-strands.ts'
import { replayDeliveries } from '../../server/store/owed/replays.ts'
import { deleteOldDocumentLinks, keepLinks } from '../../server/store/payments/document-links.ts'
import { deleteOldEventTraces } from '../../server/store/payments/event-traces.ts'
import { beginSealRound, insertSegment } from '../../server/store/proofs/audit-segments.ts'
import { insertAudit, insertAuditWithChanges } from '../../server/store/proofs/audit-table.ts'
import {
  saveHeadTold,
  saveSealedThrough,
  saveVerification,
} from '../../server/store/proofs/seal-progress.ts'
import {
  findLastSegmentOf,
  forgetRowDigests,
  insertDrop,
} from '../../server/store/removal/audit-segment-retention.ts'
import {
  cancelOwedAfter,
  FIRST_OWED,
  readDeletedOwed,
} from '../../server/store/removal/deleted-endpoints.ts'
import {
  eraseExcerpts,
  eraseFiles,
  eraseTexts,
  findPendingOf,
  lockEndpointsOf,
} from '../../server/store/removal/erasures.ts'
import { forgetOldPayments } from '../../server/store/removal/payment-retention.ts'
import {
  deleteOldHours,
  deleteUnusedDocuments,
  dropOldHistory,
} from '../../server/store/removal/retention.ts'
import { insertAccount } from '../../server/store/secrets/accounts.ts'
import { saveExpiryTold } from '../../server/store/secrets/certificate-ends.ts'
import {
  deleteCertificate,
  holdCertificates,
  insertCertificate,
  lockCertificates,
  replaceCertificate,
  saveCertificate,
  saveChain,
  saveDefault,
} from '../../server/store/secrets/client-certificates.ts'
import {
  deleteClientKey,
  deleteOldAssertions,
  insertClientKey,
  replaceClientKeyAuthentications,
  useAssertion,
} from '../../server/store/secrets/client-keys.ts'
import {
  deleteSecret,
  insertSecret,
  replaceDigest,
} from '../../server/store/secrets/client-secrets.ts'
import { insertClient, lockClient, saveClientChange } from '../../server/store/secrets/clients.ts'
import {
  deleteOldClientLinks,
  deleteOldLinks,
  deleteSession,
  deleteSessionsOfPerson,
  deleteSessionsOfSid,
  insertClientLink,
  insertLink,
  insertSession,
  takeClientLink,
  takeLink,
  useOnce,
} from '../../server/store/secrets/console-sessions.ts'
import {
  insertKey,
  lockKeys,
  replaceKeyDigest,
  revokeKey,
  touchKey,
} from '../../server/store/secrets/operator-keys.ts'
import {
  replaceSealedEndpoints,
  replaceSealedPrivateKeys,
} from '../../server/store/secrets/reseal.ts'
import {
  authenticateBeginning,
  beginBinding,
  beginDerivedKeys,
  completeBinding,
  holdBinding,
  replaceBinding,
  saveLoneVersion,
} from '../../server/store/secrets/sealing-form.ts'
import {
  deleteSigningKey,
  forgetRetiredPrivateKeys,
  insertSigningKey,
  lockSigningKeys,
  replaceAuthentications,
  retireSigningKeys,
  saveRevokedWebhookKey,
} from '../../server/store/secrets/signing-keys.ts'
import { EVERY_DELIVERY } from '../../server/store/sql/delivery-query.ts'
import { callRetries } from './calls-retries.ts'
import { callStatements } from './calls-statements.ts'
import type { Recorder } from './recorder.ts'
import type { Sample, SampleFinal } from './sample.ts'
import { UNUSED_DOCUMENT } from './world.ts'

const NEW = '00000000-0000-4000-8000-000000000002'
const DIGEST = Buffer.alloc(32)
const SEALED = Buffer.alloc(8)

export async function callWrites(recorder: Recorder, sample: Sample): Promise<void> {
  await act(recorder, sample)
  await jobs(recorder, sample)
  await erase(recorder, sample)
  await register(recorder, sample)
  await listen(recorder, sample)
  await credentials(recorder, sample)
  await upkeep(recorder, sample)
}

/** What somebody does to single deliveries. */
async function act(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { now, pending, clientKey, endpointId } = sample
  const keys = pending.slice(0, 20)
  const owner = { clientKey: null, accountId: null }
  const [first] = keys
  const [final] = sample.cancelled
  if (first === undefined || final === undefined) throw new Error('the world lacks deliveries')
  await recorder.record('', () => findPending(pool, owner, first.id))
  await recorder.record('', () => findStillPending(pool, keys))
  for (const isWaiting of [true, false]) {
    await recorder.record(isWaiting ? 'of one' : 'of many', () =>
      inTransaction(pool, (db) => cancelDeliveries(db, keys, now, { isWaiting })),
    )
  }
  const cancelled = keys.map((key) => ({ ...key, paymentId: key.id, sequence: 1, attempts: 1 }))
  await recorder.record('', () => releaseStrands(pool, cancelled, now))
  for (const [label, of] of [
    ['of all', owner],
    ['of a client', { clientKey: final.clientKey, accountId: null }],
  ] as const) {
    await recorder.record(label, () => inTransaction(pool, (db) => findFinal(db, of, final.id)))
  }
  await recorder.record('', () =>
    inTransaction(pool, (db) => replayDeliveries(db, sample.cancelled, now)),
  )
  await callRetries(recorder, sample)
  await callStatements(recorder, sample)
  for (const isWaiting of [true, false]) {
    await recorder.record(isWaiting ? 'first' : 'rest', () =>
      cancelOwedAfter(pool, { clientKey, endpointId }, FIRST_OWED, now, { isWaiting }),
    )
  }
  await recorder.record('', () => readDeletedOwed(pool, 200))
  await recorder.record('', () => releaseDeliveriesOf(pool, clientKey, endpointId, now, now))
}

async function jobs(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { now, pending } = sample
  const hold = { runner: NEW, until: now, now }
  const toReplay = sample.delivered.slice(0, 20)
  const toCancel = pending.slice(-20).map((row) => ({ ...row, finishedAtMs: null }))
  await recorder.record('', () => insertJob(pool, { id: NEW, kind: 'replay', total: 2 }, hold))
  await recorder.record('', () => readOwedKeys(pool, EVERY_DELIVERY, 100_000))
  await recorder.record('to replay', () => countFit(pool, 'replay', toReplay))
  await recorder.record('to cancel', () => countFit(pool, 'cancel', toCancel))
  await recorder.record('to retry', () => countFit(pool, 'retry', toCancel))
  await recorder.record('', () =>
    inTransaction(pool, (db) => noteItems(db, NEW, 'cancel', toCancel)),
  )
  await recorder.record('', () => holdJob(pool, NEW, hold))
  const [item] = toCancel
  if (item === undefined) throw new Error('the world owes nothing')
  await recorder.record('', () =>
    settleItems(pool, NEW, [{ ...item, finishedAt: '', position: 0 }], 0),
  )
  await recorder.record('', () => noteFailure(pool, NEW, 3, now))
  await recorder.record('', () => finishJob(pool, NEW, now))
}

async function erase(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { clientKey, paymentId, eventId } = sample.delivered[50] as SampleFinal
  await recorder.record('', () =>
    inTransaction(pool, async (db) => {
      await lockEndpointsOf(db, clientKey)
      await findPendingOf(db, { clientKey, paymentId })
      await eraseTexts(db, { clientKey, paymentId }, sample.now)
      const events = [...sample.delivered.map((row) => row.eventId), eventId]
      await eraseExcerpts(db, clientKey, events)
      await eraseFiles(db, UNUSED_DOCUMENT.clientKey, [UNUSED_DOCUMENT.hash])
    }),
  )
}

async function register(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { clientKey, accountId, endpointId, now } = sample
  const scope = { clientKey, kind: 'webhook', accountId } as const
  const made = { shard: 1, url: 'https://new.test/', hrefHash: DIGEST, sealedKey: SEALED }
  await recorder.record('', () =>
    insertEndpoint(pool, { ...scope, ...made, id: NEW, header: null, settings: null }, now),
  )
  const key = { sealedKey: SEALED, sealedPreviousKey: null, previousKeyUntil: null }
  await recorder.record('', () => replaceKey(pool, clientKey, endpointId, key, now))
  await recorder.record('', () => replaceHeader(pool, clientKey, endpointId, null, now))
  await recorder.record('', () =>
    replaceSettings(pool, clientKey, endpointId, DEFAULT_SETTINGS, now),
  )
  await recorder.record('', () => inTransaction(pool, (db) => lockEndpoint(db, scope, endpointId)))
  const paused = { status: 'PAUSED', inactiveSince: now } as const
  await recorder.record('', () => saveStatus(pool, clientKey, endpointId, paused, now))
  await recorder.record('', () => markDeleted(pool, clientKey, NEW, now))
  const check = { clientKey, endpointId }
  await recorder.record('', () => beginCheck(pool, check, now, 90_000))
  await recorder.record('', () => endCheck(pool, check, now))
  const notice = { clientKey, id: NEW, url: 'https://new.test/notices', hrefHash: Buffer.alloc(31) }
  await recorder.record('', () => replaceAddress(pool, notice, now))
  await recorder.record('', async () => {
    await pool.query('update clients set is_internal = false')
    const internal = await ensureInternalClient(pool, { id: NEW, name: 'Paybell' }, now)
    const endpoint = { ...notice, clientKey: internal, clientId: null, shard: 1, sealedKey: SEALED }
    await insertNoticeEndpoint(pool, endpoint, now)
  })
}

async function listen(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { clientKey, listenerId, now, eventId } = sample
  const listener = { clientKey, listenerId }
  const key = { ...listener, id: NEW }
  const offer = {
    ...key,
    deliveryId: NEW,
    eventId,
    attempt: 1,
    headers: [],
    body: null,
    deadlineAt: new Date(now.getTime() + 1_000),
  }
  const answer = { outcome: { kind: 'answered', status: 200 }, durationMs: 1 } as const
  await recorder.record('', () => insertListener(pool, { clientKey, listenerId: NEW }, now))
  await recorder.record('', () => touchListener(pool, listener, { now, noted: now }))
  await recorder.record('', () => markSilent(pool, listener, now))
  await recorder.record('', () => insertOffer(pool, offer, now))
  await recorder.record('', () => takeOffer(pool, listener, now))
  await recorder.record('', () => giveOfferBack(pool, key))
  await recorder.record('', () => findOffered(pool, [listener], now))
  await recorder.record('', () => answerOffer(pool, key, answer, now))
  await recorder.record('', () => collectAnswers(pool, [key]))
  await recorder.record('', () => withdrawOffer(pool, key))
  await recorder.record('', () => withdrawUntaken(pool, [key]))
  await recorder.record('', () => deleteOldOffers(pool, new Date(0)))
  await recorder.record('', () => dropDeletedListeners(pool))
}

async function credentials(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { now, clientId, clientKey } = sample
  const secret = { id: NEW, digest: DIGEST, masterKeyId: 'k1' }
  const id = NEW.replace(/2$/, '3')
  await recorder.record('', () => insertClient(pool, { id, name: 'New' }, now))
  const change = { status: 'ACTIVE', credentials: 'any' } as const
  await recorder.record('', () => saveClientChange(pool, clientId, change))
  const clientJwk = { kid: 'new', publicJwk: {}, createdAt: now, authentication: SEALED }
  await recorder.record('', () => insertClientKey(pool, clientKey, clientJwk))
  await recorder.record('', () =>
    replaceClientKeyAuthentications(pool, [{ before: { ...clientJwk, clientKey }, after: SEALED }]),
  )
  await recorder.record('', () => useAssertion(pool, clientKey, DIGEST, now))
  await recorder.record('', () => deleteOldAssertions(pool, now))
  await recorder.record('', () => deleteClientKey(pool, clientKey, 'new'))
  await recorder.record('', () => lockClient(pool, clientKey))
  await recorder.record('', () => insertAccount(pool, clientKey, { id: NEW, name: 'New' }, now))
  await recorder.record('', () => insertSecret(pool, clientKey, secret, now))
  await recorder.record('', () => replaceDigest(pool, clientKey, secret))
  await recorder.record('', () => insertKey(pool, { ...secret, name: 'New', role: 'admin' }, now))
  await recorder.record('', () => replaceKeyDigest(pool, NEW, secret))
  await recorder.record('', () => touchKey(pool, NEW, now))
  const person = { issuer: 'https://login.example.com', subject: 'ada', sid: 'one' }
  const holders = {
    'of the first key': { kind: 'first-key', key: secret },
    'of an operator key': { kind: 'operator-key', keyId: NEW },
    'of a client': { kind: 'client', clientKey, secretId: NEW },
    'of a person': { kind: 'person', ...person, group: 'support', email: null, idToken: null },
  } as const
  for (const [index, [label, holder]] of Object.entries(holders).entries()) {
    const session = { id: NEW, digest: Buffer.alloc(32, 200 + index), holder, expiresAt: now }
    await recorder.record(label, () => insertSession(pool, session, now))
  }
  await recorder.record('', () => deleteSession(pool, DIGEST))
  await recorder.record('', () => deleteSessionsOfPerson(pool, { ...person, groupsKept: [] }))
  await recorder.record('', () => deleteSessionsOfSid(pool, person.issuer, person.sid))
  await recorder.record('', () => useOnce(pool, { digest: DIGEST, expiresAt: now }, now))
  await recorder.record('', () => insertLink(pool, DIGEST, now))
  await recorder.record('', () => takeLink(pool, DIGEST, now))
  const link = { digest: DIGEST, clientKey: 1, expiresAt: now }
  await recorder.record('', () => insertClientLink(pool, link))
  await recorder.record('', () => takeClientLink(pool, DIGEST, now))
  await recorder.record('', () => deleteOldClientLinks(pool, now))
  await recorder.record('', () => deleteOldLinks(pool, now))
  await recorder.record('', () => revokeKey(pool, NEW, now))
  await recorder.record('', () => deleteSecret(pool, clientKey, NEW))
  const dated = { createdAt: now, authentication: SEALED }
  const signing = { kid: 'new', publicJwk: {}, sealedPrivateKey: SEALED, ...dated }
  const authentication = { before: { ...signing, verifiesUntil: null }, after: SEALED }
  const key = { before: { id: 'new', private_key: SEALED }, after: SEALED }
  for (const table of ['signing_keys', 'webhook_keys'] as const) {
    const label = `of ${table}`
    await recorder.record(label, () => insertSigningKey(pool, table, signing))
    await recorder.record(label, () => retireSigningKeys(pool, table, now))
    await recorder.record(label, () => replaceSealedPrivateKeys(pool, table, [key]))
    await recorder.record(label, () => replaceAuthentications(pool, table, [authentication]))
    await recorder.record(label, () => deleteSigningKey(pool, table, 'new'))
  }
  await recorder.record('', () => forgetRetiredPrivateKeys(pool, now))
  await recorder.record('', () => saveRevokedWebhookKey(pool, { kid: 'new', revokedAt: now }))
  const chain = { pem: 'x', fingerprint: SEALED, notBefore: now, notAfter: now }
  const named = { id: NEW, name: 'new', subject: 'CN=new', isDefault: false, createdAt: now }
  const clients = [clientKey]
  const certificate = { ...named, sealedPrivateKey: SEALED, requestPem: null, chain, clients }
  await recorder.record('', () => insertCertificate(pool, certificate))
  await recorder.record('', () => saveChain(pool, NEW, certificate))
  await recorder.record('', () => saveCertificate(pool, NEW, certificate))
  await recorder.record('', () => saveDefault(pool, NEW))
  await recorder.record('', () => saveExpiryTold(pool, [{ id: NEW, notAfter: now, days: 7 }]))
  await recorder.record('', () => renameCertificates(pool, clientKey, new Map([[NEW, 'default']])))
  await recorder.record('', () => giveCertificates(pool, clientKey, [NEW]))
  await recorder.record('', () => takeCertificatesBack(pool, clientKey))
  await recorder.record('', () => replaceCertificate(pool, { from: NEW, to: 'default' }, now))
  await recorder.record('of client_certificates', () =>
    replaceSealedPrivateKeys(pool, 'client_certificates', [key]),
  )
  await recorder.record('', () => deleteCertificate(pool, NEW))
  await recorder.record('', () =>
    inTransaction(pool, async (db) => {
      await lockKeys(db)
      await holdCertificates(db)
      await lockCertificates(db)
      await lockSigningKeys(db)
      await lockNotices(db)
      await tryLockNotices(db)
    }),
  )
  const sealed = {
    client_key: clientKey,
    id: NEW,
    url: 'https://new.test/',
    oauth2: null,
    previous_key: null,
    header_value: null,
    oauth2_secret: null,
  }
  const endpoint = { ...sealed, shared_key: SEALED }
  await recorder.record('', () =>
    replaceSealedEndpoints(pool, [{ before: endpoint, after: endpoint }]),
  )
  await recorder.record('', () => beginDerivedKeys(pool, '0.2.0', 1_000))
  await recorder.record('', () =>
    saveLoneVersion(pool, { version: '0.3.0', since: now, seenAt: now }),
  )
  await recorder.record('', () => beginBinding(pool, '0.3.0', 1_000, SEALED))
  await recorder.record('', () => holdBinding(pool))
  await recorder.record('', () => authenticateBeginning(pool, SEALED))
  await recorder.record('', () => completeBinding(pool, SEALED))
  await recorder.record('', () => replaceBinding(pool, 'begun', SEALED))
}

async function upkeep(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { now, clientKey, endpointId } = sample
  const entry = {
    actor: 'operator',
    action: 'client.create',
    object: 'client:1',
    requestId: NEW,
    at: now,
  }
  await recorder.record('', () => insertAudit(pool, entry))
  await recorder.record('once', () => insertAudit(pool, { ...entry, id: NEW }))
  await recorder.record('', () => insertAuditWithChanges(pool, { ...entry, changes: [] }))
  const digest = '0'.repeat(64)
  const segment = {
    ...{ segment: 1, from: '1', to: '2', count: 1, digest, previous: digest },
    ...{ sealedAt: now.toISOString(), jws: 'x' },
  }
  await recorder.record('', () => beginSealRound(pool, now, 50_000))
  await recorder.record('', () => insertSegment(pool, segment, Buffer.alloc(32)))
  await recorder.record('', () => findLastSegmentOf(pool, new Date(now.getTime() - 9 * DAY_MS), 0))
  const drop = { through: 1, jws: 'x' }
  await recorder.record('', () => insertDrop(pool, drop))
  await recorder.record('', () => forgetRowDigests(pool, 1))
  await recorder.record('', () => saveSealedThrough(pool, now))
  const verification = { at: now, from: 1, to: 2, verdict: 'valid' as const, finding: null }
  await recorder.record('', () => saveVerification(pool, verification))
  await recorder.record('', () => saveHeadTold(pool, now))
  await recorder.record('', () => countExhausted(pool, 200, now))
  await recorder.record('', () => forgetDeleted(pool))
  const told = {
    sequence: 1,
    failingSinceMs: null,
    failingTold: 0,
    disabledSinceMs: null,
    exhaustedTotal: 0,
    exhaustedUntold: 0,
    exhaustedToldAtMs: null,
  }
  await recorder.record('', () => saveTold(pool, [{ clientKey, endpointId, told }]))
  await recorder.record('', () => beginNotices(pool, now))
  await recorder.record('', () => sumUpFinalCounts(pool))
  const step = { stepSeconds: 60, atMs: now.getTime(), attempts: 1, delivered: 1, durations: [1] }
  await recorder.record('', () => saveAttemptSteps(pool, NEW, [step]))
  await recorder.record('', () => deleteOldSteps(pool, now))
  await recorder.record('', () => deleteOldHours(pool, now))
  await recorder.record('', () => deleteOldEventTraces(pool, now))
  const link = { clientKey, eventId: NEW, endpointId: NEW, url: 'https://paybell.test/' }
  await recorder.record('', () => keepLinks(pool, [link]))
  await recorder.record('', () => deleteOldDocumentLinks(pool, now, 100))
  await recorder.record('', () => deleteOldJobs(pool, now))
  await recorder.record('', () => forgetOldPayments(pool, clientKey, now, null, 100))
  await recorder.record('', () => dropOldHistory(pool, now, 8))
  const later = new Date(now.getTime() + 20 * DAY_MS)
  await recorder.record('', () => dropOldHistory(pool, later, 8))
  await recorder.record('', () => deleteUnusedDocuments(pool, later, null, 1_000))
  const since = new Date(now.getTime() - 7 * DAY_MS)
  await recorder.record('', () => disableFailing(pool, [{ shard: 1, epoch: 1 }], since, now))
  const latest = [0, 12_000, 24_000].map((ms) => new Date(now.getTime() + ms))
  await recorder.record('', () => bringForward(pool, { shard: 1, epoch: 1 }, latest, 5_000))
  await recorder.record('', () => freeAllLeases(pool))
}
