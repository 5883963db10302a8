// The service's options in a simulated world, and what the checker may demand of it with them.

import type { EngineOptions } from '../../server/delivery/engine.ts'
import type { Dice } from './dice.ts'
import { DAY, HOUR, MINUTE, SECOND } from './durations.ts'
import type { StoreWeather } from './node-store.ts'
import type { Limits } from './records.ts'
import type { Subject } from './subject.ts'

/** Leases, polls and looks of a week's world are this many times slower. */
export const WEEK_SLOWER = 900

/** `paces`: dice of their own, so that a seed keeps the rest of its world. */
export function drawOptions(
  dice: Dice,
  paces: Dice,
  subject: Subject,
  isWeek: boolean,
): Omit<EngineOptions, 'onDatabaseTime'> {
  const slower = isWeek ? WEEK_SLOWER : 1
  const { attemptMsMax, recordingMsMax, sign, ...durations } = subject.LEASE_POLICY
  const reader = subject.DUE_READER_LIMITS
  const changes = subject.CHANGE_WATCH_LIMITS
  // Not in the worlds of a week, where polls are far apart: two strands that share one slot alternate
  // with the polls, which would look like attempts that come late.
  const isCramped = dice.chance(0.4) && !isWeek
  const circuit = subject.circuitPolicy()
  // Drawn before all that follows, so that a seed keeps its world.
  const lanes = {
    policy: {
      inFlightMax: 64,
      // Far more than a world needs: what it paces is never late by it, unless its clock goes back.
      ratePerSecond: paces.pick([null, null, 20, 100]),
    },
    slots: isCramped ? dice.pick([2, 8]) : 512,
    perLaneMax: isCramped ? dice.pick([1, 2, 4]) : 6_250,
    perBrokenLaneMax: isCramped ? dice.pick([1, 2]) : 100,
    unprovenMax: isCramped ? 2 : 25_000,
    lanesMax: isCramped ? 2 : 20_000,
    // Longer than what is read ahead; much longer, and waiting ones would crowd out due ones.
    keepMsMax: isWeek ? 2 * reader.aheadMs * slower : 30 * SECOND,
  }
  const patienceMs = isWeek
    ? dice.pick([HOUR, 7 * DAY])
    : dice.pick([8 * SECOND, 30 * SECOND, HOUR])
  const inMemoryMax = isCramped ? dice.pick([3, 50_000]) : reader.inMemoryMax
  return {
    policies: {
      retry: subject.retryPolicy(),
      circuit: isCramped ? { ...circuit, failuresToOpen: 3, failingMsToOpen: SECOND } : circuit,
      patienceMs,
      disableAfterMs: 7 * DAY,
    },
    leases: {
      attemptMsMax,
      recordingMsMax,
      leaseMs: durations.leaseMs * slower,
      renewEveryMs: durations.renewEveryMs * slower,
      processGoneAfterMs: durations.processGoneAfterMs * slower,
      sign: {
        beatEveryMs: sign.beatEveryMs * slower,
        provenMs: sign.provenMs * slower,
        endedMs: sign.endedMs * slower,
      },
    },
    lanes,
    payloads: { cacheBytesMax: isCramped ? 500 : 1e6, fileBytesMax: 1e6 },
    // Few endpoints here, but looked after as if they were many.
    changes: isCramped
      ? { ...changes, pageMax: 1, rereadMax: 1, noticedMax: 3, oneByOneMax: 0 }
      : changes,
    dueReader: {
      ...reader,
      // Where memory is short, the reader has to see by itself that a strand brings few.
      strandMax: isCramped && inMemoryMax > 3 ? 2 : reader.strandMax,
      inMemoryMax,
      aheadMs: reader.aheadMs * slower,
      overlapMs: reader.overlapMs * slower,
      overlapEveryMs: reader.overlapEveryMs * slower,
      sweepEveryMs: reader.sweepEveryMs * slower,
    },
    pollEveryMs: SECOND * slower,
    slowCheckEveryMs: 5 * SECOND * slower,
    maintainEveryMs: isWeek ? 15 * MINUTE : 10 * SECOND,
  }
}

/** What is promised, written down here: a limit that is read from the module under test moves with its faults. */
const PROMISED = {
  runMs: 7 * DAY,
  retryBaseMs: 5 * SECOND,
  retryCapMs: 6 * HOUR,
  attemptMsMax: 15 * SECOND,
  leaseMs: 25 * SECOND,
  renewEveryMs: 3 * SECOND,
  sweepEveryMs: MINUTE,
  stepBackMs: 5 * SECOND,
  /** Also of a full memory: the update whose turn it is, the one after it, and as many where a later one went ahead. */
  readOfOneMin: 4,
}

interface Troubles {
  weather: StoreWeather
  wakeUpsLost: number
  faults: readonly { kind: string; lengthMs: number }[]
}

export function toLimits(
  { policies, pollEveryMs, dueReader, lanes }: Omit<EngineOptions, 'onDatabaseTime'>,
  { weather, wakeUpsLost, faults }: Troubles,
  slower: number,
): Limits {
  const leaseMs = PROMISED.leaseMs * slower
  // Rows tell the time of the database's clock, and that may jump. What waits for it is late by as much as it takes to
  // notice: a renewal, a poll, and what is too little to be a step; never by the length of the jump.
  const jumps = faults.filter(({ kind }) => kind === 'database-clock')
  const offsets = [0, ...jumps.map(({ lengthMs }) => lengthMs)]
  const jumpMs = Math.max(...offsets) - Math.min(...offsets)
  const noticedMs = PROMISED.renewEveryMs * slower + 2 * pollEveryMs + PROMISED.stepBackMs
  // A machine that was paused is late by so much, until it reads the database's time again.
  const pauses = faults.filter(({ kind }) => kind === 'pause' || kind === 'sleep')
  const lateMs = pauses.reduce((sum, { lengthMs }) => sum + lengthMs, 0)
  const isNotified = wakeUpsLost === 0 && weather.delayMsMax <= 100
  return {
    patienceMs: policies.patienceMs,
    runMs: PROMISED.runMs,
    closingMs: 5 * MINUTE,
    attemptMsMax: PROMISED.attemptMsMax,
    leaseMs,
    pollMs: pollEveryMs,
    controlMsMax: 5 * pollEveryMs,
    rescueMsMax: leaseMs + PROMISED.sweepEveryMs * slower + 5 * pollEveryMs + noticedMs,
    // The owner hears of it, and an attempt that is under way ends first. Where nothing is amiss.
    ...(isNotified && slower === 1 && isFair(weather)
      ? { retryMsMax: 5 * pollEveryMs + PROMISED.attemptMsMax }
      : {}),
    // Where its memory is full, a process knows of what it has no room for when it has some.
    ...(isNotified && slower === 1 && isFair(weather) && dueReader.inMemoryMax > 1_000
      ? { newerMsMax: 2 * pollEveryMs }
      : {}),
    ...(jumps.length > 0 ? { jumpNoticedMs: noticedMs } : {}),
    hasRoom: lanes.perLaneMax > 1_000,
    isFilledByOne: dueReader.inMemoryMax <= PROMISED.readOfOneMin,
    // With a notice the others take over at once; else they look at their next renewal.
    handOverMsMax: isNotified ? 1_500 : 2 * PROMISED.renewEveryMs * slower + pollEveryMs,
    keyOverlapMs: DAY,
    retryBaseMs: PROMISED.retryBaseMs,
    retryCapMs: PROMISED.retryCapMs,
    jitter: 0.2,
    breakerMsMax: 5 * MINUTE,
    clockErrorMs: 2 * SECOND + jumpMs + lateMs,
    // A process's first reading of the database's time may take the slowest round trip, and is then wrong
    // by half of it; two processes may be wrong in opposite directions.
    clocksApartMs: Math.max(2 * SECOND, weather.delayMsMax) + jumpMs + lateMs,
  }
}

function isFair({ unapplied, answerLost, hang }: StoreWeather): boolean {
  return unapplied === 0 && answerLost === 0 && hang === 0
}
