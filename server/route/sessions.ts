// The console's sign-in over several cells. An operator is signed in to all of them, a client to its own. The session of
// each cell is a cookie of its own (console-cookies.ts). With an operator port, of the route or of the cells, operators
// sign in there and clients at the public one, as they do without a route.

import type { CellDirectory } from '../core/network/cell-directory.ts'
import { ServiceError } from '../core/plain/errors.ts'
import { parseJson } from '../core/plain/exact-json.ts'
import { isUuid } from '../core/plain/uuid.ts'
import type { Surface } from '../http/routes/server-deps.ts'
import { answerHeaders } from './forwarded-headers.ts'
import type { KnownCells } from './known-cells.ts'
import {
  type CellAnswer,
  CellFailure,
  type CellSide,
  type RoutedCell,
  readAnswer,
} from './routed-cell.ts'

const ANSWER_BYTES_MAX = 64 * 1_024

export interface SessionQuestion {
  method: string
  body: Buffer | null
  /** Where the browser is: cells with one port do not know it. */
  surface: Surface
  cells: KnownCells
  directory: CellDirectory
  /** Cells that this browser is signed in to. */
  sessions: readonly number[]
  send(cell: RoutedCell, side: CellSide): Promise<CellAnswer>
}

export interface SessionAnswer {
  status: number
  headers: Record<string, string | string[]>
  body: Buffer
}

/** One cell that is asked, and at which of its addresses. */
interface Target {
  cell: RoutedCell
  side: CellSide
}

export async function answerSession(question: SessionQuestion): Promise<SessionAnswer> {
  const answers = await ask(question)
  const best = answers.find(({ isAccepted }) => isAccepted) ?? answers[0]
  if (best === undefined) throw new CellFailure(question.cells.all[0]?.cell ?? 0, 'away')
  const cookies = answers.flatMap(({ isAccepted, headers }) =>
    isAccepted ? (headers['set-cookie'] ?? []) : [],
  )
  return {
    status: best.status,
    headers: { ...best.headers, ...(cookies.length > 0 ? { 'set-cookie': cookies } : {}) },
    body: best.body,
  }
}

type SessionReply = SessionAnswer & { isAccepted: boolean }

async function ask(question: SessionQuestion): Promise<readonly SessionReply[]> {
  const { method, surface, cells, sessions } = question
  if (method === 'POST') return signIn(question)
  const side = surface === 'operator' ? 'operator' : 'public'
  const signedIn = cells.all.filter(({ cell }) => sessions.includes(cell))
  const inTurn = signedIn.length > 0 ? signedIn : cells.inTurn()
  if (method === 'DELETE') return askEach(question, targetsAt(side, inTurn))
  // Each port of a cell knows its own kind of session: where the route has one port, either may be meant.
  const others = surface === 'all' ? signedIn.filter(({ hasTwoSides }) => hasTwoSides) : []
  return firstAccepting(question, [...targetsAt(side, inTurn), ...targetsAt('operator', others)])
}

async function signIn(question: SessionQuestion): Promise<readonly SessionReply[]> {
  const { surface, cells, directory, body } = question
  const { clientId, operatorKey } = readSignIn(body)
  if (operatorKey !== undefined) {
    if (surface === 'public') throw elsewhere('Operators sign in at the operator’s own port.')
    return askEach(question, targetsAt('operator', cells.all))
  }
  const side = surface === 'operator' ? 'operator' : 'public'
  // A link, or a mistake. A link says nothing of its cell.
  if (clientId === undefined) return firstAccepting(question, targetsAt(side, cells.inTurn()))
  if (surface === 'operator') {
    throw elsewhere('Clients sign in at the public address of the service.')
  }
  if (typeof clientId !== 'string' || !isUuid(clientId)) {
    return firstAccepting(question, targetsAt(side, cells.inTurn()))
  }
  const own = cells.find(directory.cellOfClient(clientId))
  return askEach(question, targetsAt(side, own === undefined ? [] : [own]))
}

function targetsAt(side: CellSide, cells: readonly RoutedCell[]): readonly Target[] {
  return cells.map((cell) => ({ cell, side }))
}

/** One after another, until one knows who it is. */
async function firstAccepting(
  question: SessionQuestion,
  targets: readonly Target[],
): Promise<readonly SessionReply[]> {
  const replies: SessionReply[] = []
  for (const target of targets) {
    replies.push(...(await askEach(question, [target])))
    if (replies.at(-1)?.isAccepted) return replies.slice(-1)
  }
  return replies
}

/** Those that are away are left out. */
async function askEach(
  question: SessionQuestion,
  targets: readonly Target[],
): Promise<readonly SessionReply[]> {
  const replies = await Promise.all(
    targets.map(async ({ cell, side }) => {
      try {
        const answer = await question.send(cell, side)
        const bytes = (await readAnswer(answer, ANSWER_BYTES_MAX)) ?? Buffer.alloc(0)
        const headers = answerHeaders(answer.headers, answer.cell)
        return toReply({ status: answer.status, headers, body: bytes }, question)
      } catch (error) {
        if (error instanceof CellFailure) return null
        throw error
      }
    }),
  )
  return replies.filter((one) => one !== null)
}

/**
 * A session that has no access to this port's routes counts as none here: cookies do not distinguish ports. Sign-in with
 * the company is not offered: it would open a session in one cell alone (decision 0096).
 */
function toReply(answer: SessionAnswer, { method, surface }: SessionQuestion): SessionReply {
  const { status, headers, body } = answer
  if (method !== 'GET' || status !== 200) return { ...answer, isAccepted: status < 300 }
  const { signInWith, ...session } = readSession(body)
  const isNone = session.kind === null
  const isWelcome = surface === 'all' || (surface === 'operator') === (session.kind === 'operator')
  const isAccepted = !isNone && isWelcome
  if ((isNone || isWelcome) && signInWith === undefined) return { ...answer, isAccepted }
  const { mode, version, timeScale } = session
  const shown = isAccepted ? session : { kind: null, mode, version, timeScale }
  const bytes = Buffer.from(JSON.stringify(shown))
  const length = { 'content-length': String(bytes.length) }
  return { status, headers: { ...headers, ...length }, body: bytes, isAccepted }
}

/** As a cell reads it, which may not know the port: throws where the cell would refuse it. */
function readSignIn(body: Buffer | null): Readonly<Record<string, unknown>> {
  return Object(parseJson(body ?? Buffer.alloc(0)).value)
}

function readSession(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(body.toString()))
  } catch {
    return { kind: null }
  }
}

function elsewhere(detail: string): ServiceError {
  return new ServiceError('invalid-credentials', detail)
}
