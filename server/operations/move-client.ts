// Moves a client from one cell to another while both run. Nothing is lost, because both ends are transactions and the
// source is fenced off before the copy; nothing is doubled or reordered, because its deliveries are stopped for a whole
// lease first, after which no attempt can be under way. Each step may be repeated: a move that was broken off goes on.
//   (none) ─▶ DRAINING   endpoints are paused; payments are accepted, and wait
//          ─▶ COPYING    nothing is accepted; all rows are copied, in one transaction of the target
//          ─▶ MOVED      the target sends on; the source sends callers there, and removes its rows

import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import {
  beginMove,
  type ClientMove,
  countJobItems,
  findClientMove,
  forgetMove,
  hasActiveEndpoint,
  noteRemoved,
  pauseAll,
  resumeAll,
  saveMoveState,
} from '../store/client-moves.ts'
import { findClient } from '../store/clients.ts'
import { countSecretsByMasterKey } from '../store/master-keys.ts'
import {
  changing,
  type Ends,
  type EndUrls,
  nowOf,
  onBothEnds,
  reading,
} from '../store/move-ends.ts'
import { raiseFence } from '../store/move-fence.ts'
import {
  copyClient,
  dropOwed,
  makePartitionsSince,
  raiseFeed,
  readFeedPlace,
  removeMoved,
} from '../store/move-rows.ts'
import { lockNotices } from '../store/notices.ts'
import { carryNoticeEndpoint } from './parts/notice-endpoints.ts'

export interface MoveOptions extends EndUrls {
  clientId: string
  toCell: number
  /** The public address of the other cell. */
  toAddress: string
  /** Until no attempt that began before can be under way: a lease of the engine. */
  drainMs: number
  /** Whether a master key is one of ours: secrets are copied as they are. */
  hasKey?: (id: string) => boolean
  onStep?: (step: string) => void
}

/** All processes have read the state by then (parts/client-moves.ts). */
const MOVES_KNOWN_MS = 1_500

export interface MovedClient {
  /** 0 where an earlier run had copied all of it. */
  rows: number
  /** How long nothing was accepted for the client. */
  frozenMs: number
}

export async function moveClient(options: MoveOptions): Promise<MovedClient> {
  return onBothEnds(options, async (ends) => {
    const begun = await findClientMove(ends.source, options.clientId)
    if (begun !== null && begun.toCell !== options.toCell) {
      throw new Error(`the client is on its way to cell ${begun.toCell}, or has moved there`)
    }
    const isMoved = begun?.state === 'MOVED'
    if (isMoved || (await hasArrived(ends.target, options.clientId))) {
      if (begun === null) throw new Error('the other cell has a client with this id already')
      if (!isMoved) await finish(ends, begun)
      await removeRows(ends.source, begun.clientKey)
      return { rows: 0, frozenMs: 0 }
    }
    try {
      return await moveFrom(ends, options)
    } catch (error) {
      await undoUnlessArrived(options).catch(() => {
        throw new Error(
          'the move was broken off, and could not be undone now: run it again to go on, or with --undo',
          { cause: error },
        )
      })
      throw error
    }
  })
}

/** Gives a move up that has not been completed: the client goes on where it was. */
export async function undoMove(options: Pick<MoveOptions, 'clientId'> & EndUrls): Promise<void> {
  if (!(await undoUnlessArrived(options))) {
    throw new Error('the client is in the other cell already: run the move again to complete it')
  }
}

async function undoUnlessArrived(
  options: Pick<MoveOptions, 'clientId'> & EndUrls,
): Promise<boolean> {
  return onBothEnds(options, async ({ source, target }) => {
    const move = await findClientMove(source, options.clientId)
    if (move === null) return true
    if (move.state === 'MOVED' || (await hasArrived(target, options.clientId))) return false
    await changing(source, async () => {
      await forgetMove(source, move.clientKey)
      await raiseFence(source)
      await resumeAll(source, move.clientKey, move.activeEndpoints, await nowOf(source))
    })
    return true
  })
}

async function moveFrom(ends: Ends, options: MoveOptions): Promise<MovedClient> {
  const { source, target } = ends
  const say = options.onStep ?? (() => {})
  await checkKeys(target, options)
  const move = await begin(source, options)
  say('Its endpoints are paused; waiting for attempts under way.')
  const now = await nowOf(source)
  await makePartitionsSince(source, target, move.clientKey, now)
  const place = await readFeedPlace(source)
  await changing(target, () => raiseFeed(target, place))
  await drain(source, move, options.drainMs)
  await checkJobs(source, move.clientKey)

  const frozenAt = performance.now()
  await changing(source, async () =>
    saveMoveState(source, move.clientKey, 'COPYING', await nowOf(source)),
  )
  // First every process turns its writes away, each with an answer of its own. The fence that follows fails whole
  // transactions, those of other clients in them, too: it is for a process that knows of no move.
  await delay(MOVES_KNOWN_MS)
  await changing(source, () => raiseFence(source))
  await checkQuiet(source, move.clientKey)
  say('Nothing is accepted for it now; copying.')
  // Read again: what was stopped on the way goes on as well.
  const drained = (await findClientMove(source, options.clientId)) as ClientMove
  const rows = await copy(ends, drained)
  await finish(ends, move)
  const frozenMs = Math.round(performance.now() - frozenAt)
  say('The other cell has it; removing its rows here.')
  await removeRows(source, move.clientKey)
  return { rows, frozenMs }
}

async function checkKeys(target: pg.Client, { hasKey = () => true }: MoveOptions): Promise<void> {
  const used = [...(await countSecretsByMasterKey(target)).keys()]
  if (used.every(hasKey)) return
  throw new Error(
    'the other cell has another master key: secrets that are copied there could not be decrypted',
  )
}

async function begin(source: pg.Client, options: MoveOptions): Promise<ClientMove> {
  const begun = await findClientMove(source, options.clientId)
  if (begun !== null) return begun
  const client = await findClient(source, options.clientId)
  if (client === null) throw new Error('this cell has no client with this id')
  const { clientId, toCell, toAddress } = options
  await changing(source, async () => {
    const to = { clientKey: client.clientKey, clientId, toCell, toAddress }
    await beginMove(source, to, await nowOf(source))
  })
  return (await findClientMove(source, clientId)) as ClientMove
}

/** A client may have resumed an endpoint, or registered one, in the moment before every process knew of the move. */
async function drain(source: pg.Client, move: ClientMove, drainMs: number): Promise<void> {
  do await delay(drainMs)
  while (await changing(source, async () => pauseAll(source, move.clientKey, await nowOf(source))))
}

async function checkJobs(source: pg.Client, clientKey: number): Promise<void> {
  if ((await countJobItems(source, clientKey)) === 0) return
  throw new Error('a bulk replay or cancellation of its deliveries is running: wait for its end')
}

/**
 * From when its endpoints were last paused until the fence stood, a process that knew of no move may have begun what both
 * cells would then do. Now nothing can begin any more, so one look is enough.
 */
async function checkQuiet(source: pg.Client, clientKey: number): Promise<void> {
  if (await hasActiveEndpoint(source, clientKey)) {
    throw new Error(
      'an endpoint of the client was resumed in the last moment: start the move again',
    )
  }
  await checkJobs(source, clientKey)
}

/** One transaction of the target: it has all of the client, or nothing. */
async function copy({ source, target }: Ends, move: ClientMove): Promise<number> {
  return reading(source, () =>
    changing(target, async () => {
      const { clientKey, rows } = await copyClient(source, target, move.clientKey)
      // It may have been here before.
      await forgetMove(target, clientKey)
      await raiseFence(target)
      // Last, because from here on a lock is waited for in seconds.
      await lockNotices(target)
      await carryNoticeEndpoint(source, target, move.clientId, await nowOf(target))
      await resumeAll(target, clientKey, move.activeEndpoints, await nowOf(target))
      return rows
    }),
  )
}

async function finish({ source }: Ends, move: ClientMove): Promise<void> {
  await changing(source, async () => {
    await saveMoveState(source, move.clientKey, 'MOVED', await nowOf(source))
    await dropOwed(source, move.clientKey)
  })
}

/** Then the fence need not keep out what acts on them. */
async function removeRows(source: pg.Client, clientKey: number): Promise<void> {
  await removeMoved(source, clientKey)
  await changing(source, async () => {
    await noteRemoved(source, clientKey, await nowOf(source))
    await raiseFence(source)
  })
}

/** A client that has left the target again is not there. */
async function hasArrived(target: pg.Client, clientId: string): Promise<boolean> {
  const client = await findClient(target, clientId)
  return client !== null && (await findClientMove(target, clientId))?.state !== 'MOVED'
}
