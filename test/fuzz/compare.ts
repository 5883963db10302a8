// One seed: an answer and a spoilt one, read by Node and by us, whole and cut at every byte. Ours may refuse more; what
// it takes, Node has taken too, and has read the same; a connection that it keeps, Node keeps.

import assert from 'node:assert/strict'
import { NO_BYTES } from '../../server/delivery/sending/answer-reader.ts'
import { Dice } from '../simulator/dice.ts'
import { makeAnswer, spoil } from './answers.ts'
import { makeLargeAnswer } from './large-answers.ts'
import { type Reading, readByNode } from './node-reader.ts'
import { readByUs } from './our-reader.ts'

/** How many answers were read, and what was made of the spoilt ones. */
export interface Tally {
  answers: number
  takenByNode: number
  takenByUs: number
  keptByUs: number
}

/** So many are at the bounds: each takes a hundred times as long to read. */
const LARGE_SHARE = 0.003
/** What is longer is not cut in two everywhere, nor is what is right: there the dice say where. */
const SHORT_BYTES = 600
const CUTS = 10

export async function compareSeed(seed: number, tally: Tally): Promise<void> {
  const dice = new Dice(seed)
  const right = dice.next() < LARGE_SHARE ? makeLargeAnswer(dice) : makeAnswer(dice)
  const spoilt = spoil(dice, right.bytes, makeAnswer(dice).bytes)
  const ofRight = readCut(right.bytes, pickCuts(dice, right.bytes.length), seed)
  assert.deepEqual(
    { ...ofRight, isKept: null },
    { ...right.expected, isKept: null },
    told(right.bytes, seed),
  )
  const [rightByNode, spoiltByNode] = await Promise.all([
    readByNode(right.bytes),
    readByNode(spoilt),
  ])
  assertNoMoreLenient(ofRight, rightByNode, told(right.bytes, seed))
  const isShort = spoilt.length <= SHORT_BYTES
  const cuts = isShort ? cutsEverywhere(spoilt.length) : pickCuts(dice, spoilt.length)
  const ofSpoilt = readCut(spoilt, cuts, seed)
  // A receiver's next answer, when the head of its last one is remembered, and looks much the same.
  const remembered = { bytes: NO_BYTES, head: null }
  readByUs(right.bytes, [], remembered)
  assert.deepEqual(readByUs(spoilt, [], remembered), ofSpoilt, told(spoilt, seed))
  assertNoMoreLenient(ofSpoilt, spoiltByNode, told(spoilt, seed))
  tally.answers += 2
  if (spoiltByNode.isWhole) tally.takenByNode += 1
  if (ofSpoilt.isWhole) tally.takenByUs += 1
  if (ofSpoilt.isKept) tally.keptByUs += 1
}

export function assertNoMoreLenient(ours: Reading, node: Reading, message: string): void {
  const heads = ({ status, retryAfter }: Reading) => ({ status, retryAfter })
  if (ours.status !== 0) assert.deepEqual(heads(ours), heads(node), message)
  if (ours.isWhole) assert.deepEqual({ ...ours, isKept: null }, { ...node, isKept: null }, message)
  if (ours.isKept) assert.ok(node.isKept, `kept: ${message}`)
}

export function told(bytes: Buffer, seed: number | null): string {
  return `${seed === null ? 'every byte' : `seed ${seed}`}: ${JSON.stringify(bytes.toString('latin1'))}`
}

/** Read whole, byte by byte, in two pieces by each cut, and with its head remembered: always the same. */
function readCut(bytes: Buffer, cuts: readonly number[], seed: number): Reading {
  const remembered = { bytes: NO_BYTES, head: null }
  const whole = readByUs(bytes, [], remembered)
  assert.deepEqual(readByUs(bytes, [], remembered), whole, told(bytes, seed))
  assert.deepEqual(readByUs(bytes, cutsEverywhere(bytes.length)), whole, told(bytes, seed))
  for (const cut of cuts) {
    const cutOnce = readByUs(bytes, [cut], remembered)
    if (!isSame(cutOnce, whole))
      assert.deepEqual(cutOnce, whole, `cut at ${cut}: ${told(bytes, seed)}`)
  }
  return whole
}

function cutsEverywhere(length: number): number[] {
  return Array.from({ length: Math.max(0, length - 1) }, (_, at) => at + 1)
}

function pickCuts(dice: Dice, length: number): number[] {
  return Array.from({ length: CUTS }, () => 1 + Math.floor(dice.next() * (length - 1)))
}

/** Faster than deepEqual, for what is asked a hundred times of each answer. */
function isSame(one: Reading, other: Reading): boolean {
  return (
    one.status === other.status &&
    one.isWhole === other.isWhole &&
    one.isKept === other.isKept &&
    one.body === other.body &&
    one.retryAfter === other.retryAfter
  )
}
