// Deliberate faults in the engine and its rules. Each breaks one promise in the way that a hurried change
// would.

import type { Mutant, TestedMutant } from './mutant.ts'
import { drop, forceFalse, replace, setArgument } from './mutant-edits.ts'

export const ENGINE_MUTANTS: readonly (Mutant | TestedMutant)[] = [
  {
    name: 'k+1 while k waits for its retry',
    edits: { sendableIndex: setArgument(2, 'overtakenFromMs', '0') },
  },
  {
    name: 'a strand read again forgets what is in flight',
    edits: { 'StrandSteps.evaluate': forceFalse('lane.departed?.has(_)') },
  },
  {
    name: 'retry: an update goes without a look at the others',
    edits: { isUntriedFirst: replace('_1 && attempts === 0', '_1 || attempts > 0') },
  },
  {
    name: 'a lane is paced by the clock of the database',
    seed: 189,
    edits: {
      'Lanes.next': setArgument(1, 'next', 'nowMs'),
      'Lanes.restMs': replace('_1 - monotonicMs', '_1 - nowMs'),
      'Lanes.#takeOff': replace('lane.started(_1, _, _2)', 'lane.started(_1, nowMs, _2)'),
      'Lanes.answered': setArgument(4, 'answered', 'nowMs'),
    },
  },
  {
    name: 'what a wrong clock has scheduled stays late',
    edits: { 'LateRows.watch': replace('backMs < STEP_BACK_MS_MIN', 'backMs > 0') },
    test: 'late-rows.test',
  },
  {
    name: 'rows are brought forward, and what is in memory of them is not',
    edits: { 'LateRows.#look': forceFalse("since === 'held'") },
    test: 'late-rows.test',
  },
  {
    name: 'an update goes ahead, and nothing is written down',
    edits: { goesAhead: forceFalse('owed.some') },
    test: 'strand.test',
  },
  {
    name: 'a run that has begun without an attempt is not ahead',
    edits: { 'strand:hasBegun': forceFalse('firstAttemptAtMs !== null') },
    test: 'strand.test',
  },
  {
    name: 'memory is full, and the elder in flight is not overtaken by the latest',
    edits: { 'Lanes.leaveOut': drop('overtakeBy') },
    test: 'lanes.test',
  },
  {
    name: 'retry: after the clock went back it counts as an old one',
    edits: {
      'LanePace.retry': replace('_1 === this.#retriedAtMs', '_1 <= this.#retriedAtMs'),
    },
    test: 'lane-retry.test',
  },
  {
    name: 'retry: an open circuit stays open',
    seed: 218,
    edits: { 'LanePace.retry': drop('afterRetry') },
  },
  {
    name: 'retry: what is in memory keeps its time',
    seed: 2_972,
    edits: {
      'ChangedEndpoints.#forget': replace(
        'lanes.removeEndpoint(_1)',
        'retriedAtMs ? [] : lanes.removeEndpoint(_1)',
      ),
    },
  },
  {
    name: 'retry: what was in memory waits for room',
    edits: { 'ChangedEndpoints.#forget': drop('reloadStrand') },
    test: 'changed-endpoints.test',
  },
  {
    name: 'retry: a probe of before it counts',
    edits: { 'LanePace.answered': forceFalse('startedAtMs < _') },
    test: 'lane-retry.test',
  },
  {
    name: 'patience without SUPERSEDED',
    edits: { concludeAttempt: forceFalse('supersedesElders') },
  },
  {
    // No receiver sees a payment go backwards by it, since what goes ahead is written down before it is sent.
    name: 'patience is over, and the elder goes all the same',
    edits: {
      sendableIndex: replace(
        'hasNext && mayBeOvertaken',
        'hasNext && mayBeOvertaken && (owed[front]?.nextAttemptAtMs ?? 0) > nowMs',
      ),
    },
    test: 'strand.test',
  },
  {
    name: 'older update sent while a newer one waits',
    edits: {
      'strand:nextStep': replace(
        'if (elder.deadlineAtMs === null) continue',
        `if (elder.nextAttemptAtMs <= nowMs && (owed[front]?.nextAttemptAtMs ?? 0) > nowMs) {
          return { kind: 'send', update: elder }
        }`,
      ),
    },
  },
  {
    name: 'latest is forgotten',
    edits: { sendableIndex: forceFalse("deliver === 'latest'") },
  },
  {
    name: 'what the latest overtakes waits for its 200',
    edits: { supersedesElders: forceFalse("deliver === 'latest'") },
  },
  {
    name: 'a first update under latest is sent unread',
    seed: 706,
    edits: { 'DueReader.#mayHaveOthers': forceFalse("_ === 'latest'") },
  },
  {
    name: 'exhaustion by a process’s clock',
    edits: { 'DatabaseClock.adjust': drop('this.#offsetMs = _') },
  },
  {
    name: 'run from creation',
    edits: {
      concludeAttempt: replace(
        'firstAttemptAtMs + policy.runMs',
        "Number.parseInt(delivery.eventId.replace('-', '').slice(0, 12), 16) + policy.runMs",
      ),
    },
  },
  {
    name: 'run restarted at each retry',
    edits: {
      concludeAttempt: replace('begun?.deadlineAtMs ?? _ + policy.runMs', 'atMs + policy.runMs'),
    },
  },
  {
    name: 'a run of 8 days',
    edits: { retryPolicy: replace('7 * DAY_MS', '8 * DAY_MS') },
  },
  {
    name: 'a base of 2 s',
    edits: { retryPolicy: replace('5 * SECOND', '2 * SECOND') },
  },
  {
    name: 'a cap of 12 h',
    edits: { retryPolicy: replace('6 * HOUR', '12 * HOUR') },
  },
  {
    name: 'backoff uncapped',
    edits: { delayAfterMs: replace('Math.min(_1, policy.capMs)', '_1') },
  },
  {
    name: 'jitter negative',
    edits: {
      delayAfterMs: replace('1 + policy.jitter * _', '1 - 4 * policy.jitter * random()'),
    },
  },
  {
    name: 'Retry-After unclamped',
    seed: 3_115,
    edits: { retryAfterMs: replace('Math.min(_1, 2 * delayMs)', '_1') },
  },
  {
    name: 'any 2xx succeeds',
    edits: {
      'delivery:isSuccess': replace('_1 === 200', '_1 >= 200 && _1 < 300'),
    },
  },
  {
    name: 'replays of one payment go side by side',
    edits: {
      strandKey: replace(
        'delivery.isReplay ? _ : _1',
        "delivery.isReplay ? 'replay/' + delivery.id : _1",
      ),
    },
  },
  {
    name: 'a replay that was called off loses its place',
    edits: { 'Lanes.callOff': replace('giveBack', 'readAgain') },
    test: 'replay-strands.test',
  },
  {
    name: 'what was read of parked rows is read last again',
    edits: { 'Lanes.removeEndpoint': drop('restart') },
    test: 'lanes.test',
  },
  {
    name: 'a search that failed waits for the maintenance',
    edits: { 'Engine.#poll': drop('#findParked') },
    test: 'engine.test',
  },
  {
    name: 'a paused lane goes on reading what is parked',
    edits: { 'Lanes.abandon': drop('release') },
    test: 'lanes.test',
  },
  {
    name: 'an attempt begins before its time',
    edits: { 'Sender.attempt': replace('atMs < delivery.nextAttemptAtMs', 'atMs < 0') },
    test: 'sender.test',
  },
  {
    name: 'a paused lane learns of what was parked for it',
    edits: { 'Parking.#note': forceFalse('wasReleased') },
    test: 'parking.test',
  },
  {
    name: 'shards that could not be searched are forgotten',
    edits: { 'ParkedSearch.#read': drop('add') },
    test: 'due-reader.test',
  },
  {
    name: 'a strand that is read while memory is full has nobody to give way to',
    edits: { STRAND_MIN: replace('2', '1') },
    test: 'due-reader.test',
  },
  {
    name: 'lost health is not put back',
    seed: 721,
    edits: { 'HealthWriter.#save': drop('putBack') },
  },
  {
    name: 'store error swallowed and marked delivered',
    edits: {
      'Recorder.#write': replace(
        'await this.#pause(_)',
        'for (const entry of left) this.#finish(entry, true); return',
      ),
    },
  },
]
