// Moves a client from one cell to another while both run: the steps of core/network/client-move.ts, each looked for in the two
// databases before it is taken. Nothing is lost, because both ends are transactions and the source is fenced off before the
// copy; nothing is doubled or reordered, because its deliveries are stopped for a whole lease first, after which no attempt
// can be under way. All of it under one lock at both ends: a second run and an undo wait for it, or are refused.

import { setTimeout as delay } from 'node:timers/promises'
import { canUndo, type MoveStep, nextStep } from '../../core/network/client-move.ts'
import { canMove } from '../../core/proofs/sealing-mark.ts'
import type { Db } from '../../store/connection/db.ts'
import { lockNotices } from '../../store/endpoints/notices.ts'
import {
  advanceMove,
  beginMove,
  type ClientMove,
  countJobItems,
  findClientMove,
  forgetMove,
  hasActiveEndpoint,
  lockClientMove,
  pauseAll,
  resumeAll,
} from '../../store/moves/client-moves.ts'
import {
  type End,
  type Ends,
  type EndUrls,
  nowOf,
  onBothEnds,
} from '../../store/moves/move-ends.ts'
import { lowerFence, raiseFence } from '../../store/moves/move-fence.ts'
import {
  alreadyThere,
  copyClient,
  dropOwed,
  hasArrived,
  makePartitionsSince,
  raiseFeed,
  readFeedPlace,
  readMasterKeysOf,
  removeMoved,
} from '../../store/moves/move-rows.ts'
import { findClient } from '../../store/secrets/clients.ts'
import { countSecretsByMasterKey } from '../../store/secrets/master-keys.ts'
import {
  holdBinding,
  readSealingForm,
  replaceBinding,
  type StoredForm,
} from '../../store/secrets/sealing-form.ts'
import { MOVES_KNOWN_MS } from '../access/move-checks.ts'
import { carryCertificates, checkCertificates, withdrawCertificates } from './carry-certificates.ts'
import { carryNoticeEndpoint } from './save-notice-endpoint.ts'

export interface MoveOptions extends EndUrls {
  toCell: number
  /** The public address of the other cell. */
  toAddress: string
  /** Until no attempt that began before can be under way: a lease of the engine. */
  drainMs: number
  /** Until all processes have read the state: MOVES_KNOWN_MS, but in tests. */
  knownMs?: number
  onStep?: (step: string) => void
}

export interface MovedClient {
  /** 0 where an earlier run had copied all of it. */
  rows: number
  /** How long nothing was accepted for the client. */
  frozenMs: number
}

/**
 * A run that fails finds out, on new connections, what has become of its last step: it goes on where the other cell has the
 * client, and is undone where it has not. Where neither can be seen, the next run looks.
 */
export async function moveClient(options: MoveOptions): Promise<MovedClient> {
  const run = new MoveRun(options)
  try {
    await onBothEnds(options, (ends) => run.walk(ends))
  } catch (error) {
    if (!run.hasBegun) throw error
    const isThere = await onBothEnds(options, (ends) => run.settle(ends)).catch((reason) => {
      throw new Error(
        `the move was broken off (${messageOf(error)}), and could be neither completed nor undone now (${messageOf(reason)}): run it again to go on, or with --undo`,
        { cause: error },
      )
    })
    if (!isThere) throw error
  }
  return run.result
}

/** Gives a move up that has not been completed: the client goes on where it was. */
export async function undoMove(options: EndUrls): Promise<void> {
  if (await onBothEnds(options, (ends) => undo(ends, options.clientId))) return
  throw new Error('the client is in the other cell already: run the move again to complete it')
}

/** One run of the command. Tests walk it step by step. */
export class MoveRun {
  readonly result: MovedClient = { rows: 0, frozenMs: 0 }
  readonly #options: MoveOptions
  #frozenAtMs: number | null = null
  /** Something may have been changed. */
  hasBegun = false

  constructor(options: MoveOptions) {
    this.#options = options
  }

  async walk(ends: Ends): Promise<void> {
    while ((await this.step(ends)) !== 'done');
  }

  /** After a failure: true where the client is in the other cell, and all of the move is done. */
  async settle(ends: Ends): Promise<boolean> {
    if (await undo(ends, this.#options.clientId)) return false
    await this.walk(ends)
    return true
  }

  /** Looks at both ends, and takes the one step that is next. */
  async step(ends: Ends): Promise<MoveStep> {
    const { clientId, toCell } = this.#options
    const move = await findClientMove(ends.source.db, clientId)
    if (move !== null && move.toCell !== toCell) {
      throw new Error(`the client is on its way to cell ${move.toCell}, or has moved there`)
    }
    const step = nextStep(move?.state ?? null, await hasArrived(ends.target.db, clientId))
    if (step === null) throw alreadyThere()
    this.hasBegun = true
    if (move === null) await this.#begin(ends)
    else await this.#take(step, ends, move)
    return step
  }

  #take(step: MoveStep, ends: Ends, move: ClientMove): Promise<void> | undefined {
    if (step === 'drain') return this.#drain(ends, move)
    if (step === 'fence') return this.#fence(ends, move)
    if (step === 'copy') return this.#copy(ends, move)
    if (step === 'hand over') return this.#handOver(ends, move)
    if (step === 'remove') return this.#remove(ends, move)
    return undefined
  }

  #say(text: string): void {
    this.#options.onStep?.(text)
  }

  async #begin({ source, target }: Ends): Promise<void> {
    const { clientId, toCell, toAddress } = this.#options
    const client = await findClient(source.db, clientId)
    if (client === null) throw new Error('this cell has no client with this id')
    const { clientKey } = client
    await checkKeys(source, target, clientKey, clientId)
    assertBound(await readSealingForm(source.db), await readSealingForm(target.db))
    await checkCertificates(source.db, target.db, clientKey)
    await source.change(async (db) =>
      beginMove(db, { clientKey, clientId, toCell, toAddress }, await nowOf(db)),
    )
    this.#say('Its endpoints are paused; waiting for attempts under way.')
  }

  /** A client may have resumed an endpoint, or registered one, in the moment before every process knew of the move. */
  async #drain({ source, target }: Ends, move: ClientMove): Promise<void> {
    const { clientKey } = move
    await makePartitionsSince(source.db, target.db, clientKey, await nowOf(source.db))
    const place = await readFeedPlace(source.db)
    await target.change((db) => raiseFeed(db, place))
    do await delay(this.#options.drainMs)
    while (await source.change(async (db) => pauseAll(db, clientKey, await nowOf(db))))
    await checkJobs(source, clientKey)
    this.#frozenAtMs = performance.now()
    await source.change(async (db) => advanceMove(db, move, 'CLOSING', await nowOf(db)))
  }

  /**
   * First every process turns its writes away, each with an answer of its own. The fence that follows fails whole
   * transactions, those of other clients in them, too: it is for a process that knows of no move.
   */
  async #fence({ source }: Ends, move: ClientMove): Promise<void> {
    this.#frozenAtMs ??= performance.now()
    await delay(this.#options.knownMs ?? MOVES_KNOWN_MS)
    await source.change(async (db) => {
      await raiseFence(db, move.clientKey)
      await advanceMove(db, move, 'COPYING', await nowOf(db))
    })
    this.#say('Nothing is accepted for it now; copying.')
  }

  /** One transaction of the target: it has all of the client, or nothing. */
  async #copy({ source, target }: Ends, move: ClientMove): Promise<void> {
    this.#frozenAtMs ??= performance.now()
    await checkQuiet(source, move.clientKey)
    const rows = await source.read((from) =>
      target.change(async (to) => {
        await carryBinding(from, to)
        const copied = await copyClient(from, to, move.clientKey)
        // Last, because from here on a lock is waited for in seconds.
        await lockNotices(to)
        await carryNoticeEndpoint(from, to, move.clientId, await nowOf(to))
        await carryCertificates(from, to, {
          fromKey: move.clientKey,
          clientKey: copied.clientKey,
        })
        await resumeAll(to, copied.clientKey, move.activeEndpoints, await nowOf(to))
        // Without it an undo could have begun, and waits for this session alone.
        await source.assertHeld()
        return copied.rows
      }),
    )
    this.result.rows = rows
  }

  async #handOver({ source }: Ends, move: ClientMove): Promise<void> {
    await source.change(async (db) => {
      await advanceMove(db, move, 'MOVED', await nowOf(db))
      await dropOwed(db, move.clientKey)
    })
    if (this.#frozenAtMs !== null) {
      this.result.frozenMs = Math.round(performance.now() - this.#frozenAtMs)
    }
    this.#say('The other cell has it; removing its rows here.')
  }

  /** Then the fence need not keep out what acts on them. */
  async #remove({ source, target }: Ends, move: ClientMove): Promise<void> {
    await removeMoved(source, move.clientKey)
    // Apart, because its lock is waited for in seconds.
    await source.change((db) => withdrawCertificates(db, move.clientKey))
    await source.change(async (db) => {
      await advanceMove(db, move, 'REMOVED', await nowOf(db))
      await lowerFence(db)
    })
    // It may have been there before.
    await target.change(lowerFence)
  }
}

/** True when there is no move any more. The other cell is asked while the row of the move is locked. */
async function undo({ source, target }: Ends, clientId: string): Promise<boolean> {
  return source.change(async (db) => {
    const move = await lockClientMove(db, clientId)
    if (move === null) return true
    if (!canUndo(move.state, await hasArrived(target.db, clientId))) return false
    await forgetMove(db, move.clientKey)
    await lowerFence(db)
    await resumeAll(db, move.clientKey, move.activeEndpoints, await nowOf(db))
    return true
  })
}

/**
 * What the client brings can be read there only with the master keys that it is under. Which keys the other cell's
 * processes have is known by what they have written: they could not work without those.
 */
async function checkKeys(
  source: End,
  target: End,
  clientKey: number,
  clientId: string,
): Promise<void> {
  const held = await countSecretsByMasterKey(target.db)
  const needed = await readMasterKeysOf(source.db, clientKey, clientId)
  const missing = needed.filter((id) => !held.has(id))
  if (missing.length === 0) return
  throw new Error(
    held.size === 0
      ? 'the other cell has no secret yet, so its master keys are not known: start a process of it with the master keys of this cell, and create it with --keys-from, or an operator key in it'
      : `secrets of this client are under master key ${missing.join(' and ')}, which the other cell has not used: give both cells the same PAYBELL_MASTER_KEY, and run "paybell reseal" in both`,
  )
}

/**
 * How far both cells are with binding secrets to addresses, until the copy is there. A cell that has never been served has
 * begun, and authenticated nothing: it takes over the word of the other one.
 */
async function carryBinding(from: Db, to: Db): Promise<void> {
  await holdBinding(to)
  const [there, here] = [await readSealingForm(to), await readSealingForm(from)]
  assertBound(here, there)
  if (there.authentication === null && here.authentication !== null) {
    await replaceBinding(to, here.binding, here.authentication)
  }
}

function assertBound({ binding: here }: StoredForm, { binding: there }: StoredForm): void {
  if (canMove(here, there)) return
  throw new Error(
    `secrets are bound to their addresses in one of the two cells only (here: ${here}, there: ${there}): run "paybell reseal" in both, then move the client`,
  )
}

async function checkJobs(source: End, clientKey: number): Promise<void> {
  if ((await countJobItems(source.db, clientKey)) === 0) return
  throw new Error('a bulk replay or cancellation of its deliveries is running: wait for its end')
}

/**
 * From when its endpoints were last paused until the fence stood, a process that knew of no move may have begun what both
 * cells would then do. Now nothing can begin any more, so one look is enough.
 */
async function checkQuiet(source: End, clientKey: number): Promise<void> {
  if (await hasActiveEndpoint(source.db, clientKey)) {
    throw new Error(
      'an endpoint of the client was resumed in the last moment: start the move again',
    )
  }
  await checkJobs(source, clientKey)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
