// Deliberate faults in what is SQL, or stands around it: the conformance suite holds the statements and the
// simulator's twin together, so it has to see each of them.

import type { TestedMutant } from './mutant.ts'
import { addImport, drop, forceFalse, replace, replaceSql, setArgument } from './mutant-edits.ts'

const SCRIPTED = 'scripted.test'
const CONCURRENT = 'concurrent.test'
const STATEMENTS = 'view-statement.test'

export const STORE_MUTANTS: readonly TestedMutant[] = [
  {
    name: 'a job held by a clock that was ahead waits for its time',
    edits: { holdJob: replaceSql('held_until > $5', '$5::timestamptz is null') },
    test: 'jobs.test',
  },
  {
    name: 'a begun run is not read of a long strand',
    edits: { readOldest: replaceSql('or a.first_attempt_at is not null', '') },
    test: 'owed/deliveries.test',
  },
  {
    name: 'rows are brought forward under an old lease',
    edits: { bringForward: replaceSql('epoch = $2', 'epoch >= $2') },
    test: 'late-due-times.test',
  },
  {
    name: 'fan-out skips paused endpoints',
    edits: {
      readListening: replaceSql(
        'e.deleted_at is null',
        "e.deleted_at is null and e.status = 'ACTIVE'",
      ),
    },
    test: SCRIPTED,
  },
  {
    name: 'only a 200 supersedes',
    edits: { recordAny: replaceSql('m.supersedes', "m.supersedes and m.state = 'DELIVERED'") },
    test: SCRIPTED,
  },
  {
    name: 'the oldest are read as the latest',
    edits: { readNewest: replaceSql('desc', '') },
    test: SCRIPTED,
  },
  {
    name: 'fan-out in a second transaction',
    edits: {
      // A single change is saved in one statement, which cannot be torn apart: all are saved as many are.
      saveNew: forceFalse('changes.length === 1'),
      saveMany: replace(
        'sent.push(db.query({ ...SAVE_DELIVERIES, values }))',
        // The commit travels with the statements before.
        `const before = Promise.all(sent)
        sent.push(before.then(() => db.query({ ...SAVE_DELIVERIES, values })))`,
      ),
    },
    test: CONCURRENT,
  },
  {
    name: 'a new update is taken for its own elder',
    edits: { saveChanges: replace('[_1, _2, _3]', '[_2, _3, _1]') },
    test: 'accept.test',
  },
  {
    name: 'endpoints are read before the wait for a payment',
    edits: {
      transactionOn: [
        replace(
          'const [stored, _1] = await allOf([_2, _3])',
          'const [stored, _1] = await allOf([lockPayments(db, paymentIds), _2])',
        ),
        replace('const _1 = lockPayments(__)', 'const _1 = readListening(db, clientKeys)'),
      ],
    },
    test: CONCURRENT,
  },
  {
    name: 'a payment’s lock is shared',
    edits: {
      tryLockPayments: replaceSql('pg_try_advisory_xact_lock', 'pg_try_advisory_xact_lock_shared'),
    },
    test: CONCURRENT,
  },
  {
    name: 'a payment is read before it is locked',
    edits: {
      lockPayments: [
        replace('readLocked(_, _)', 'early'),
        replace('const locking = _1', 'const early = readLocked(db, ids); const locking = _1'),
      ],
    },
    test: CONCURRENT,
  },
  {
    name: 'check-then-insert',
    edits: { saveInTransaction: drop('lockClient') },
    test: CONCURRENT,
  },
  {
    name: 'replay while an attempt is in flight',
    edits: {
      replay: [
        addImport('cancelDeliveries'),
        replace(
          'if (await findPending(__1)) _',
          `const pending = await findPending(__1)
          if (pending) await cancelDeliveries(db, [pending], new Date(deps.clock.nowMs()), { isWaiting: true })`,
        ),
      ],
    },
    test: SCRIPTED,
  },
  {
    name: 'retry: older updates are forgotten',
    edits: { retryDeliveries: replaceSql('when a.is_replay', 'when a.id is not null') },
    test: SCRIPTED,
  },
  {
    name: 'retry: the order is left, as by a replay',
    edits: { retryDeliveries: replaceSql('set', 'set is_replay = true,') },
    test: SCRIPTED,
  },
  {
    name: 'retry: one during an attempt is lost',
    edits: { recordAny: replaceSql("'1 ms'", "'1 year'") },
    test: SCRIPTED,
  },
  {
    name: 'cancel: what was held back goes on waiting',
    edits: { cancelDeliveries: replace('!isReplay', 'isReplay') },
    test: 'cancellations.test',
  },
  {
    name: 'pause counts against the run',
    edits: { releaseDeliveriesOf: replace("later('deadline_at', _)", "'deadline_at'") },
    test: SCRIPTED,
  },
  {
    name: 'record without epoch check',
    edits: {
      HELD: [
        replaceSql('l.shard, l.epoch from', 'g.shard, g.epoch from'),
        replaceSql('and l.epoch = g.epoch', ''),
      ],
    },
    test: SCRIPTED,
  },
  {
    name: 'health: failures of a former owner count',
    edits: {
      saveHealth: replaceSql(
        'h.last_success_at > excluded.last_failure_at',
        'false and h.last_success_at > excluded.last_failure_at',
      ),
    },
    test: 'endpoint-health.test',
  },
  {
    name: 'leases by a process’s clock',
    edits: { renewLeases: replace('seen.now_ms', 'Date.now()') },
    test: CONCURRENT,
  },
  {
    name: 'lease taken by expires_at again',
    edits: {
      takeLeases: replaceSql(
        'l.owner is null',
        'l.owner is null or l.expires_at <= clock_timestamp()',
      ),
    },
    test: SCRIPTED,
  },
  {
    name: 'an hour is final although a transaction is open',
    edits: { readSettled: replaceSql('m.place <= $1::bigint', '(m.place <= $1::bigint or true)') },
    test: STATEMENTS,
  },
  {
    name: 'an hour is final although something of it is pending',
    edits: { isHourFinal: forceFalse('pending > 0') },
    test: STATEMENTS,
  },
  {
    name: 'a mark is where a snapshot ends',
    edits: {
      takePlace: replaceSql('pg_current_xact_id()', 'pg_snapshot_xmax(pg_current_snapshot())'),
    },
    test: STATEMENTS,
  },
  {
    name: 'an hour that was counted before a replay is kept after it',
    edits: { keepHours: replaceSql('where s.reopened = excluded.reopened', '') },
    test: STATEMENTS,
  },
  {
    name: 'a replay leaves a kept hour as it is',
    edits: { replayDeliveries: setArgument(2, 'reopenHoursOf', "'false'") },
    test: STATEMENTS,
  },
]
