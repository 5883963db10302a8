// The console's sign-in over several cells. An operator is signed in to all of them, a client to its own. The session of
// each cell is a cookie of its own (console-cookies.ts).

import type { CellDirectory } from '../core/cell-directory.ts'
import { isUuid } from '../core/uuid.ts'
import { answerHeaders } from './forwarded-headers.ts'
import type { KnownCells } from './known-cells.ts'
import { type CellAnswer, CellFailure, type RoutedCell, readAnswer } from './routed-cell.ts'

const ANSWER_BYTES_MAX = 64 * 1_024

export interface SessionQuestion {
  method: string
  body: Buffer | null
  cells: KnownCells
  directory: CellDirectory
  /** Cells that this browser is signed in to. */
  sessions: readonly number[]
  send(cell: RoutedCell): Promise<CellAnswer>
}

export interface SessionAnswer {
  status: number
  headers: Record<string, string | string[]>
  body: Buffer
}

export async function answerSession(question: SessionQuestion): Promise<SessionAnswer> {
  const answers = await ask(question)
  const best = answers.find(({ isGood }) => isGood) ?? answers[0]
  if (best === undefined) throw new CellFailure(question.cells.all[0]?.cell ?? 0, 'away')
  const cookies = answers.flatMap(({ isGood, headers }) =>
    isGood ? (headers['set-cookie'] ?? []) : [],
  )
  return {
    status: best.status,
    headers: { ...best.headers, ...(cookies.length > 0 ? { 'set-cookie': cookies } : {}) },
    body: best.body,
  }
}

type Heard = SessionAnswer & { isGood: boolean }

async function ask(question: SessionQuestion): Promise<readonly Heard[]> {
  const { method, cells, sessions, directory } = question
  const signedIn = cells.all.filter(({ cell }) => sessions.includes(cell))
  if (method === 'DELETE') return askEach(question, signedIn.length > 0 ? signedIn : cells.inTurn())
  if (method !== 'POST') return askUntil(question, signedIn.length > 0 ? signedIn : cells.inTurn())
  const { clientId, operatorKey } = readSignIn(question.body)
  if (operatorKey !== undefined) return askEach(question, cells.all)
  if (typeof clientId !== 'string' || !isUuid(clientId)) return askUntil(question, cells.inTurn())
  const own = cells.find(directory.cellOfClient(clientId))
  return askEach(question, own === undefined ? [] : [own])
}

/** One after another, until one knows who it is: a link says nothing of its cell. */
async function askUntil(
  question: SessionQuestion,
  cells: readonly RoutedCell[],
): Promise<readonly Heard[]> {
  const heard: Heard[] = []
  for (const cell of cells) {
    heard.push(...(await askEach(question, [cell])))
    if (heard.at(-1)?.isGood) return heard.slice(-1)
  }
  return heard
}

/** Those that are away are left out. */
async function askEach(
  question: SessionQuestion,
  cells: readonly RoutedCell[],
): Promise<readonly Heard[]> {
  const heard = await Promise.all(
    cells.map(async (cell) => {
      try {
        const answer = await question.send(cell)
        const body = (await readAnswer(answer, ANSWER_BYTES_MAX)) ?? Buffer.alloc(0)
        const { status } = answer
        const isGood = status < 300 && !(status === 200 && /"kind":\s*null/.test(body.toString()))
        return { status, headers: answerHeaders(answer.headers, answer.cell), body, isGood }
      } catch (error) {
        if (error instanceof CellFailure) return null
        throw error
      }
    }),
  )
  return heard.filter((one) => one !== null)
}

function readSignIn(body: Buffer | null): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(body?.toString() ?? ''))
  } catch {
    return {}
  }
}
