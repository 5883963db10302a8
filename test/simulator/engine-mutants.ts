// Deliberate faults in the engine and its rules. Each breaks one promise in the way that a hurried change
// would.
// Long because it is a list: one entry for each promise.

import { type Mutant, patch, type TestedMutant } from './mutant.ts'

export const ENGINE_MUTANTS: readonly (Mutant | TestedMutant)[] = [
  {
    name: 'k+1 while k waits for its retry',
    patches: [
      patch(
        'core/delivery/strand.ts',
        'overtakenFromMs(owed[front] as OwedUpdate, patienceMs) <= nowMs',
        'overtakenFromMs(owed[front] as OwedUpdate, 0) <= nowMs',
      ),
    ],
  },
  {
    name: 'a strand read again forgets what is in flight',
    patches: [
      patch(
        'delivery/lanes/strand-steps.ts',
        'if (lane.departed?.has(strand.key)) return',
        'if (lane.departed?.size === -1) return',
      ),
    ],
  },
  {
    name: 'retry: an update goes without a look at the others',
    patches: [
      patch(
        'delivery/owing/due-reader.ts',
        'return sequence === 1 && attempts === 0',
        'return sequence === 1 || attempts > 0',
      ),
    ],
  },
  {
    name: 'a lane is paced by the clock of the database',
    seed: 189,
    patches: [
      patch(
        'delivery/lanes/lanes.ts',
        'const { nowMs, monotonicMs } = at\n',
        'const nowMs = at.nowMs\n    const monotonicMs = nowMs\n',
      ),
      patch(
        'delivery/lanes/lanes.ts',
        'this.#turns.nextStartAtMs - monotonicMs',
        'this.#turns.nextStartAtMs - nowMs',
      ),
      patch(
        'delivery/lanes/lanes.ts',
        'lane.started(this.#options.policy, monotonicMs,',
        'lane.started(this.#options.policy, nowMs,',
      ),
      patch(
        'delivery/lanes/lanes.ts',
        'policies.circuit, monotonicMs, flight',
        'policies.circuit, nowMs, flight',
      ),
    ],
  },
  {
    name: 'what a wrong clock has scheduled stays late',
    patches: [
      patch(
        'delivery/owing/late-rows.ts',
        'if (backMs < STEP_BACK_MS_MIN) return',
        'if (backMs > 0) return',
      ),
    ],
    test: 'server/delivery/owing/late-rows.test.ts',
  },
  {
    name: 'rows are brought forward, and what is in memory of them is not',
    patches: [patch('delivery/owing/late-rows.ts', "(count > 0 || since === 'held')", 'count > 0')],
    test: 'server/delivery/owing/late-rows.test.ts',
  },
  {
    name: 'an update goes ahead, and nothing is written down',
    patches: [
      patch(
        'core/delivery/strand.ts',
        'return owed.some((other) => other.sequence < update.sequence)',
        'return owed.length === 0',
      ),
    ],
    test: 'server/core/delivery/strand.test.ts',
  },
  {
    name: 'a run that has begun without an attempt is not ahead',
    patches: [
      patch(
        'core/delivery/strand.ts',
        'return attempts > 0 || firstAttemptAtMs !== null',
        'return attempts > 0 && firstAttemptAtMs !== undefined',
      ),
    ],
    test: 'server/core/delivery/strand.test.ts',
  },
  {
    name: 'memory is full, and the elder in flight is not overtaken by the latest',
    patches: [
      patch(
        'delivery/lanes/lanes.ts',
        'strand.noteUnread()\n    strand.flight?.overtakeBy(delivery)\n',
        'strand.noteUnread()\n',
      ),
    ],
    test: 'server/delivery/lanes/lanes.test.ts',
  },
  {
    name: 'retry: after the clock went back it counts as an old one',
    patches: [
      patch(
        'delivery/lanes/lane-pace.ts',
        'if (retriedAtMs === this.#retriedAtMs) return',
        'if (retriedAtMs <= this.#retriedAtMs) return',
      ),
    ],
    test: 'server/delivery/lanes/lane-retry.test.ts',
  },
  {
    name: 'retry: an open circuit stays open',
    seed: 218,
    patches: [
      patch(
        'delivery/lanes/lane-pace.ts',
        'this.circuit = afterRetry(this.circuit, nowMs)',
        'void afterRetry',
      ),
    ],
  },
  {
    name: 'retry: what is in memory keeps its time',
    seed: 2_972,
    patches: [
      patch(
        'delivery/owing/changed-endpoints.ts',
        'lanes.removeEndpoint(endpointId)',
        'retriedAtMs ? [] : lanes.removeEndpoint(endpointId)',
      ),
    ],
  },
  {
    name: 'retry: what was in memory waits for room',
    patches: [
      patch(
        'delivery/owing/changed-endpoints.ts',
        'for (const delivery of returning) reader.reloadStrand(delivery)',
        'void [returning, reader]',
      ),
    ],
    test: 'server/delivery/owing/changed-endpoints.test.ts',
  },
  {
    name: 'retry: a probe of before it counts',
    patches: [
      patch(
        'delivery/lanes/lane-pace.ts',
        'startedAtMs < this.#heardAtMs',
        'startedAtMs < this.#heardAtMs - 1e9',
      ),
    ],
    test: 'server/delivery/lanes/lane-retry.test.ts',
  },
  {
    name: 'patience without SUPERSEDED',
    patches: [
      patch(
        'delivery/attempts/attempt.ts',
        "supersedesElders(decision.state === 'DELIVERED', context.elders)",
        'attemptsNever()',
      ),
      patch(
        'delivery/attempts/attempt.ts',
        'export interface PreparedAttempt {',
        'const attemptsNever = () => false\n\nexport interface PreparedAttempt {',
      ),
    ],
  },
  {
    // No receiver sees a payment go backwards by it, since what goes ahead is written down before it is sent.
    name: 'patience is over, and the elder goes all the same',
    patches: [
      patch(
        'core/delivery/strand.ts',
        'return hasNext && mayBeOvertaken ? front + 1 : front',
        'return hasNext && mayBeOvertaken && (owed[front]?.nextAttemptAtMs ?? 0) > nowMs ? front + 1 : front',
      ),
    ],
    test: 'server/core/delivery/strand.test.ts',
  },
  {
    name: 'older update sent while a newer one waits',
    patches: [
      patch(
        'core/delivery/strand.ts',
        'if (elder.deadlineAtMs === null) continue',
        "if (elder.nextAttemptAtMs <= nowMs && (owed[front]?.nextAttemptAtMs ?? 0) > nowMs) return { kind: 'send', update: elder }",
      ),
    ],
  },
  {
    name: 'latest is forgotten',
    patches: [
      patch(
        'core/delivery/strand.ts',
        "if (deliver === 'latest') return front\n",
        'void deliver\n',
      ),
    ],
  },
  {
    name: 'what the latest overtakes waits for its 200',
    patches: [
      patch(
        'core/delivery/strand.ts',
        "return isDelivered || deliver === 'latest'",
        'return isDelivered',
      ),
    ],
  },
  {
    name: 'a first update under latest is sent unread',
    seed: 706,
    patches: [
      patch(
        'delivery/owing/due-reader.ts',
        "return !isUntriedFirst(row) || this.#endpoints.deliverOf(row.endpointId) === 'latest'",
        'return !isUntriedFirst(row)',
      ),
    ],
  },
  {
    name: 'exhaustion by a process’s clock',
    patches: [
      patch('store/connection/database-clock.ts', 'this.#offsetMs = offsetMs\n    if', 'if'),
    ],
  },
  {
    name: 'run from creation',
    patches: [
      patch(
        'delivery/attempts/attempt.ts',
        'begun?.deadlineAtMs ?? firstAttemptAtMs + policy.runMs',
        "begun?.deadlineAtMs ?? Number.parseInt(delivery.eventId.replace('-', '').slice(0, 12), 16) + policy.runMs",
      ),
    ],
  },
  {
    name: 'run restarted at each retry',
    patches: [
      patch(
        'delivery/attempts/attempt.ts',
        'begun?.deadlineAtMs ?? firstAttemptAtMs + policy.runMs',
        'atMs + policy.runMs',
      ),
    ],
  },
  {
    name: 'a run of 8 days',
    patches: [patch('core/delivery/backoff.ts', 'runMs: (7 * DAY_MS)', 'runMs: (8 * DAY_MS)')],
  },
  {
    name: 'a base of 2 s',
    patches: [patch('core/delivery/backoff.ts', 'baseMs: (5 * SECOND)', 'baseMs: (2 * SECOND)')],
  },
  {
    name: 'a cap of 12 h',
    patches: [patch('core/delivery/backoff.ts', 'capMs: (6 * HOUR)', 'capMs: (12 * HOUR)')],
  },
  {
    name: 'backoff uncapped',
    patches: [
      patch(
        'core/delivery/backoff.ts',
        'return Math.min(doubled, policy.capMs) *',
        'return doubled *',
      ),
    ],
  },
  {
    name: 'jitter negative',
    patches: [
      patch(
        'core/delivery/backoff.ts',
        '1 + policy.jitter * (2 * random() - 1)',
        '1 - 4 * policy.jitter * random()',
      ),
    ],
  },
  {
    name: 'Retry-After unclamped',
    seed: 3_115,
    patches: [
      patch(
        'core/delivery/backoff.ts',
        'return Math.min(Math.max(wantedMs / policy.timeScale, delayMs), 2 * delayMs)',
        'return Math.max(wantedMs / policy.timeScale, delayMs)',
      ),
    ],
  },
  {
    name: 'any 2xx succeeds',
    patches: [
      patch(
        'core/delivery/delivery.ts',
        "outcome.kind === 'answered' && outcome.status === 200",
        "outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300",
      ),
    ],
  },
  {
    name: 'replays of one payment go side by side',
    patches: [patch('delivery/lanes/lane.ts', '{delivery.paymentId}`', '{delivery.id}`')],
  },
  {
    name: 'a replay that was called off loses its place',
    patches: [
      patch('delivery/lanes/lanes.ts', 'this.#replays.giveBack(', 'this.#replays.readAgain('),
    ],
    test: 'server/delivery/lanes/replay-strands.test.ts',
  },
  {
    name: 'what was read of parked rows is read last again',
    patches: [patch('delivery/lanes/lanes.ts', '    lane.parked.restart()\n', '')],
    test: 'server/delivery/lanes/lanes.test.ts',
  },
  {
    name: 'a search that failed waits for the maintenance',
    patches: [patch('delivery/engine.ts', 'await this.#findParked([])\n', '')],
    test: 'server/delivery/engine.test.ts',
  },
  {
    name: 'a paused lane goes on reading what is parked',
    patches: [patch('delivery/lanes/lanes.ts', 'flight.lane.parked.release()', 'void flight')],
    test: 'server/delivery/lanes/lanes.test.ts',
  },
  {
    name: 'an attempt begins before its time',
    patches: [patch('delivery/attempts/sender.ts', 'atMs < delivery.nextAttemptAtMs', 'atMs < 0')],
    test: 'server/delivery/attempts/sender.test.ts',
  },
  {
    name: 'a paused lane learns of what was parked for it',
    patches: [
      patch('delivery/owing/parking.ts', 'if (wasReleased) ', 'if (wasReleased && false) '),
    ],
    test: 'server/delivery/owing/parking.test.ts',
  },
  {
    name: 'shards that could not be searched are forgotten',
    patches: [
      patch(
        'delivery/owing/parked-search.ts',
        'if (this.#parts.holds(shard)) this.#unsearched.add(shard)',
        'void shard',
      ),
    ],
    test: 'server/delivery/owing/due-reader.test.ts',
  },
  {
    name: 'a strand that is read while memory is full has nobody to give way to',
    patches: [
      patch('delivery/owing/due-reader.ts', 'const STRAND_MIN = 2', 'const STRAND_MIN = 1'),
    ],
    test: 'server/delivery/owing/due-reader.test.ts',
  },
  {
    name: 'lost health is not put back',
    seed: 385,
    patches: [
      patch('delivery/attempts/health-writer.ts', 'this.#counter.putBack(counted)', 'void counted'),
    ],
  },
  {
    name: 'store error swallowed and marked delivered',
    patches: [
      patch(
        'delivery/attempts/recorder.ts',
        'await this.#pause(Math.min(RETRY_MS * tries, 2_000))',
        'for (const entry of left) this.#finish(entry, true)\n        return',
      ),
    ],
  },
]
