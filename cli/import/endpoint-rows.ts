// Endpoints of another sender, from a CSV or JSON file: addresses, secrets, header names and settings, checked here as
// far as that is possible without a service. What is wrong names the row and the column, never a secret.

import {
  ALL_EVENTS,
  DELIVER_MODES,
  DESCRIPTION_CHARACTERS_MAX,
  DOCUMENT_MODES,
  EVENT_CHOICES,
  SIGNATURE_KINDS,
} from '../../server/core/delivery/endpoint-settings.ts'
import { checkCallbackUrl } from '../../server/core/network/callback-url.ts'
import { characterCount } from '../../server/core/plain/text.ts'
import { isUuid } from '../../server/core/plain/uuid.ts'
import { checkHmacHeaderName } from '../../server/core/signatures/hmac-header-name.ts'
import { checkSharedKey } from '../../server/core/signatures/shared-key.ts'
import { UsageError } from '../basics/run.ts'
import { parseCsv } from './csv.ts'

/** The body of a registration, and whose it is. */
export interface EndpointRow {
  /** From 1; the head of a CSV file is not counted. */
  row: number
  accountId: string | null
  body: Record<string, unknown> & { callbackUrl: string; sharedKey: string }
  faults: readonly string[]
}

const ROWS_MAX = 100_000

/** Other senders' names for the same things. */
const NAMES: Readonly<Record<string, string>> = {
  callbackurl: 'callbackUrl',
  url: 'callbackUrl',
  endpointurl: 'callbackUrl',
  address: 'callbackUrl',
  sharedkey: 'sharedKey',
  secret: 'sharedKey',
  key: 'sharedKey',
  hmacheadername: 'hmacHeaderName',
  headername: 'hmacHeaderName',
  header: 'hmacHeaderName',
  accountid: 'accountId',
  events: 'events',
  deliver: 'deliver',
  document: 'document',
  signatures: 'signatures',
  description: 'description',
}
const LISTS = new Set(['events', 'signatures'])

export function readRows(text: string, format: 'csv' | 'json'): readonly EndpointRow[] {
  const clean = text.replace(/^\ufeff/, '')
  const given = format === 'csv' ? fromCsv(clean) : fromJson(clean)
  if (given.length === 0) throw new UsageError('the file has no endpoints.')
  if (given.length > ROWS_MAX) throw new UsageError(`the file has more than ${ROWS_MAX} endpoints.`)
  const seen = new Map<string, number>()
  return given.map((members, index) => {
    const row = toRow(index + 1, members)
    const key = `${row.accountId ?? ''} ${hrefOf(row.body.callbackUrl)}`
    const first = seen.get(key)
    if (first === undefined) seen.set(key, row.row)
    else
      return {
        ...row,
        faults: [...row.faults, `callbackUrl: the same address as in row ${first}.`],
      }
    return row
  })
}

function fromCsv(text: string): Record<string, unknown>[] {
  const [head, ...rows] = parseCsv(text)
  if (head === undefined) return []
  const names = head.map((title) => nameOf(title))
  for (const needed of ['callbackUrl', 'sharedKey']) {
    if (!names.includes(needed)) {
      throw new UsageError(
        `the first line of the file names the columns, and has no ${needed}. It may have: callbackUrl, sharedKey, hmacHeaderName, accountId, events, deliver, document, signatures, description.`,
      )
    }
  }
  return rows.map((cells) =>
    Object.fromEntries(
      names.flatMap((name, at) => {
        const cell = cells[at] ?? ''
        if (name === null || cell === '') return []
        return [[name, LISTS.has(name) ? cell.split(/[\s;|]+/).filter(Boolean) : cell]]
      }),
    ),
  )
}

function fromJson(text: string): Record<string, unknown>[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Without the parser's message: it quotes the text, which holds secrets.
    throw new UsageError('the file is not JSON.')
  }
  const list = Array.isArray(value) ? value : (value as { endpoints?: unknown } | null)?.endpoints
  if (!Array.isArray(list)) throw new UsageError('the file is not a JSON list of endpoints.')
  return list.map((item) =>
    Object.fromEntries(
      Object.entries((item ?? {}) as object).flatMap(([title, member]) => {
        const name = nameOf(title)
        return name === null || member === null ? [] : [[name, member]]
      }),
    ),
  )
}

function nameOf(title: string): string | null {
  return (
    NAMES[
      title
        .trim()
        .toLowerCase()
        .replaceAll(/[\s_-]/g, '')
    ] ?? null
  )
}

function toRow(row: number, { accountId, ...members }: Record<string, unknown>): EndpointRow {
  const faults: string[] = []
  const fault = (name: string, detail: string | null | undefined) => {
    if (detail) faults.push(`${name}: ${detail}`)
  }
  const text = (name: string, check: (value: string) => string | null | undefined) => {
    const value = members[name]
    if (value === undefined) return
    fault(name, typeof value === 'string' ? check(value) : 'Must be a text.')
  }
  const words = (name: string, allowed: readonly string[]) => {
    const value = members[name]
    if (value === undefined) return
    const isAllowed =
      Array.isArray(value) && value.length > 0 && value.every((word) => allowed.includes(word))
    fault(name, isAllowed ? null : `Must be a list of ${allowed.join(', ')}.`)
  }
  const oneOf = (name: string, allowed: readonly string[]) =>
    text(name, (value) =>
      allowed.includes(value) ? null : `Must be one of ${allowed.join(', ')}.`,
    )
  for (const name of ['callbackUrl', 'sharedKey']) {
    if (members[name] === undefined) fault(name, 'This column is required.')
  }
  // The service knows its own rules for addresses and keys; here only what no service takes.
  text('callbackUrl', (value) => {
    const check = checkCallbackUrl(value, { loopbackAllowed: true, allowedNetworks: [] })
    return check.ok ? null : check.detail
  })
  text('sharedKey', (value) => checkSharedKey(value, 1)?.detail)
  text('hmacHeaderName', (value) => checkHmacHeaderName(value)?.detail)
  text('description', (value) =>
    characterCount(value) > DESCRIPTION_CHARACTERS_MAX ? 'Must have at most 200 characters.' : null,
  )
  oneOf('deliver', DELIVER_MODES)
  oneOf('document', DOCUMENT_MODES)
  words('signatures', SIGNATURE_KINDS)
  if (members.events !== ALL_EVENTS) words('events', EVENT_CHOICES)
  if (accountId !== undefined && !isUuid(String(accountId))) fault('accountId', 'Must be a uuid.')
  const own = accountId === undefined ? null : String(accountId).toLowerCase()
  return { row, accountId: own, body: members as EndpointRow['body'], faults }
}

export function hrefOf(url: unknown): string {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).href : String(url)
}
