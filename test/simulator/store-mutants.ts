// Deliberate faults in what is SQL, or stands around it: the conformance suite holds the statements and the
// simulator's twin together, so it has to see each of them.

import { patch, type TestedMutant } from './mutant.ts'

const SCRIPTED = 'test/conformance/scripted.test.ts'
const CONCURRENT = 'test/conformance/concurrent.test.ts'
const STATEMENTS = 'server/operations/proofs/view-statement.test.ts'

export const STORE_MUTANTS: readonly TestedMutant[] = [
  {
    name: 'a job held by a clock that was ahead waits for its time',
    patches: [
      patch(
        'store/history/jobs.ts',
        'or held_until < $4 or held_until > $5)',
        'or held_until < $4 or $5::timestamptz is null)',
      ),
    ],
    test: 'server/store/history/jobs.test.ts',
  },
  {
    name: 'a begun run is not read of a long strand',
    patches: [
      patch(
        'store/owed/deliveries.ts',
        '(a.attempts > 0 or a.first_attempt_at is not null)',
        'a.attempts > 0',
      ),
    ],
    test: 'server/store/owed/deliveries.test.ts',
  },
  {
    name: 'rows are brought forward under an old lease',
    patches: [
      patch(
        'store/owed/late-due-times.ts',
        'where shard = $1 and epoch = $2 for key share',
        'where shard = $1 and epoch >= $2 for key share',
      ),
    ],
    test: 'server/store/owed/late-due-times.test.ts',
  },
  {
    name: 'fan-out skips paused endpoints',
    patches: [
      patch(
        'store/payments/accept.ts',
        'and e.deleted_at is null\n',
        "and e.deleted_at is null and e.status = 'ACTIVE'\n",
      ),
    ],
    test: SCRIPTED,
  },
  {
    name: 'only a 200 supersedes',
    patches: [
      patch(
        'store/owed/outcomes.ts',
        'where m.supersedes\n',
        "where m.supersedes and m.state = 'DELIVERED'\n",
      ),
    ],
    test: SCRIPTED,
  },
  {
    name: 'the oldest are read as the latest',
    patches: [
      patch(
        'store/owed/deliveries.ts',
        'order by p.sequence desc limit',
        'order by p.sequence limit',
      ),
    ],
    test: SCRIPTED,
  },
  {
    name: 'fan-out in a second transaction',
    patches: [
      // A single change is saved in one statement, which cannot be torn apart: all are saved as many are.
      patch('store/payments/save-new.ts', 'if (changes.length === 1)', 'if (changes.length === 0)'),
      patch(
        'store/payments/save-new.ts',
        'sent.push(db.query({ ...SAVE_DELIVERIES, values }))',
        // The commit travels with the statements before.
        'const before = Promise.all(sent)\n' +
          '    sent.push(before.then(() => db.query({ ...SAVE_DELIVERIES, values })))',
      ),
    ],
    test: CONCURRENT,
  },
  {
    name: 'a new update is taken for its own elder',
    patches: [
      patch('store/payments/accept.ts', '    markElders(db, deliveries),\n', ''),
      patch(
        'store/payments/accept.ts',
        'saveNew(db, changes, deliveries, now),\n',
        'saveNew(db, changes, deliveries, now),\n    markElders(db, deliveries),\n',
      ),
    ],
    test: 'server/store/payments/accept.test.ts',
  },
  {
    name: 'endpoints are read before the wait for a payment',
    patches: [
      patch(
        'operations/accepting/postgres-payment-store.ts',
        'const locking = lockPayments(db, paymentIds)\n      const [stored, endpoints] = await allOf([locking, readListening(db, clientKeys)])',
        'const reading = readListening(db, clientKeys)\n      const [stored, endpoints] = await allOf([lockPayments(db, paymentIds), reading])',
      ),
    ],
    test: CONCURRENT,
  },
  {
    name: 'a payment’s lock is shared',
    patches: [
      patch(
        'store/payments/payments.ts',
        'pg_try_advisory_xact_lock(',
        'pg_try_advisory_xact_lock_shared(',
      ),
    ],
    test: CONCURRENT,
  },
  {
    name: 'a payment is read before it is locked',
    patches: [
      patch(
        'store/payments/payments.ts',
        "const locking = db.query({\n    name: 'lock-payments',",
        "const early = readLocked(db, ids)\n  const locking = db.query({\n    name: 'lock-payments',",
      ),
      patch(
        'store/payments/payments.ts',
        'const [, stored] = await Promise.all([locking, readLocked(db, ids)])',
        'const [, stored] = await Promise.all([locking, early])',
      ),
    ],
    test: CONCURRENT,
  },
  {
    name: 'check-then-insert',
    patches: [
      patch(
        'operations/endpoints/save-endpoint.ts',
        'await lockClient(db, request.clientKey)',
        'void lockClient',
      ),
    ],
    test: CONCURRENT,
  },
  {
    name: 'replay while an attempt is in flight',
    patches: [
      patch(
        'operations/deliveries/replay-delivery.ts',
        'if (await findPending(db, owner, deliveryId)) throw notFinal()',
        'const pending = await findPending(db, owner, deliveryId)\n' +
          '      if (pending) await cancelDeliveries(db, [pending], new Date(deps.clock.nowMs()), { isWaiting: true })',
      ),
      patch(
        'operations/deliveries/replay-delivery.ts',
        'import { findFinal, findPending } from',
        "import { cancelDeliveries } from '../../store/owed/cancellations.ts'\nimport { findFinal, findPending } from",
      ),
    ],
    test: SCRIPTED,
  },
  {
    name: 'retry: older updates are forgotten',
    patches: [
      patch(
        'store/owed/retries.ts',
        'case when a.is_replay then s.id = a.id',
        'case when a.id is not null then s.id = a.id',
      ),
    ],
    test: SCRIPTED,
  },
  {
    name: 'retry: the order is left, as by a replay',
    patches: [
      patch(
        'store/owed/retries.ts',
        ') as p)\n           update pending_deliveries p set next',
        ') as p)\n           update pending_deliveries p set is_replay = true, next',
      ),
    ],
    test: SCRIPTED,
  },
  {
    name: 'retry: one during an attempt is lost',
    patches: [
      patch('store/owed/outcomes.ts', "- m.at >= interval '1 ms'", "- m.at >= interval '1 year'"),
    ],
    test: SCRIPTED,
  },
  {
    name: 'cancel: what was held back goes on waiting',
    patches: [
      patch(
        'store/owed/cancellations.ts',
        'cancelled.filter(({ isReplay }) => !isReplay)',
        'cancelled.filter(({ isReplay }) => isReplay)',
      ),
    ],
    test: 'server/store/owed/cancellations.test.ts',
  },
  {
    name: 'pause counts against the run',
    patches: [
      patch(
        'store/owed/deliveries.ts',
        "later('deadline_at', pausedSince('first_attempt_at'))",
        "'deadline_at'",
      ),
    ],
    test: SCRIPTED,
  },
  {
    name: 'record without epoch check',
    patches: [
      patch(
        'store/owed/held-deliveries.ts',
        'select l.shard, l.epoch from leases',
        'select g.shard, g.epoch from leases',
      ),
      patch('store/owed/held-deliveries.ts', ' and l.epoch = g.epoch\n', '\n'),
    ],
    test: SCRIPTED,
  },
  {
    name: 'health: failures of a former owner count',
    patches: [
      patch(
        'store/endpoints/endpoint-health.ts',
        'and h.last_success_at > excluded.last_failure_at',
        'and false and h.last_success_at > excluded.last_failure_at',
      ),
    ],
    test: 'server/store/endpoints/endpoint-health.test.ts',
  },
  {
    name: 'leases by a process’s clock',
    patches: [patch('store/owed/leases.ts', 'nowMs: seen.now_ms,', 'nowMs: Date.now(),')],
    test: CONCURRENT,
  },
  {
    name: 'lease taken by expires_at again',
    patches: [
      patch(
        'store/owed/leases.ts',
        'where l.owner is null or (l.shard,',
        'where l.owner is null or l.expires_at <= clock_timestamp() or (l.shard,',
      ),
    ],
    test: SCRIPTED,
  },
  {
    name: 'an hour is final although a transaction is open',
    patches: [
      patch(
        'store/proofs/feed-marks.ts',
        'where m.place <= $1::bigint and',
        'where (m.place <= $1::bigint or true) and',
      ),
    ],
    test: STATEMENTS,
  },
  {
    name: 'an hour is final although something of it is pending',
    patches: [
      patch(
        'core/proofs/statement.ts',
        'settledAtMs === null || pending > 0',
        'settledAtMs === null',
      ),
    ],
    test: STATEMENTS,
  },
  {
    name: 'a mark is where a snapshot ends',
    patches: [
      patch(
        'store/proofs/feed-line.ts',
        'place_of(pg_current_xact_id()::text::bigint,',
        'place_of(pg_snapshot_xmax(pg_current_snapshot())::text::bigint,',
      ),
    ],
    test: STATEMENTS,
  },
  {
    name: 'an hour that was counted before a replay is kept after it',
    patches: [
      patch(
        'store/proofs/statement-hours.ts',
        '\n           where s.reopened = excluded.reopened',
        '',
      ),
    ],
    test: STATEMENTS,
  },
  {
    name: 'a replay leaves a kept hour as it is',
    patches: [
      patch('store/owed/replays.ts', `'moved', "state <> 'DELIVERED'"`, "'moved', 'false'"),
    ],
    test: STATEMENTS,
  },
]
