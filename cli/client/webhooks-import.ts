// `paybell webhooks import`: the endpoints of another sender, from a file, each registered as `webhooks register` does.
// Registering the same address with the same key again changes nothing, so an import that was interrupted is simply
// run again; what is done is noted, so that it goes on where it stopped.

import { createHash } from 'node:crypto'
import { readFile, rm, stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { PaybellError } from '../../sdk/src/plain/errors.ts'
import type { Endpoint, Page } from '../../sdk/src/wire/types.ts'
import type { Api } from '../basics/api.ts'
import type { Call } from '../basics/command.ts'
import { describeFault } from '../basics/describe-fault.ts'
import { oneOf } from '../basics/parse.ts'
import { SilentFailure, UsageError } from '../basics/run.ts'
import { plural } from '../basics/terminal.ts'
import { type EndpointRow, hrefOf, readRows } from '../import/endpoint-rows.ts'
import { writeProgress } from '../import/progress-file.ts'

const FILE_BYTES_MAX = 64 * 1024 * 1024
/** How often one row is tried that is answered with "not now": 429 or 503. */
const TRIES_MAX = 10
const WAIT_SECONDS_MAX = 60

export interface EndpointImportOptions {
  format?: 'csv' | 'json'
  state?: string
  restart?: boolean
  dryRun?: boolean
}

export function withImport(command: Command): Command {
  return command
    .argument('<file>', 'CSV with a line of column names, or a JSON list')
    .option('--format <format>', 'csv or json (default: by the name)', oneOf(['csv', 'json']))
    .option('--dry-run', 'check every row, and say what would be registered')
    .option('--state <file>', 'file that keeps the progress (default: <file>.import)')
    .option('--restart', 'start over, even if an earlier import was not finished')
    .addHelpText(
      'after',
      '\nColumns: callbackUrl, sharedKey, hmacHeaderName, accountId, events, deliver, document, signatures,\n' +
        'description. Only the first two are required. Lists are separated by spaces or semicolons.\n' +
        'Run again after an interruption, it continues where it stopped. A bad row never stops it; the exit\n' +
        'code is 1 when there was one.',
    )
}

interface Progress {
  version: 1
  service: string
  sha256: string
  /** Rows that are registered or refused. */
  done: number
  refused: number
}

export async function importWebhooks(
  call: Call<EndpointImportOptions>,
  file: string,
): Promise<void> {
  const text = await readInput(file)
  const format = call.options.format ?? (extname(file).toLowerCase() === '.json' ? 'json' : 'csv')
  const rows = readRows(text, format)
  const api = await call.target.client()
  const ownAccount = rows.some(({ accountId }) => accountId === null)
    ? await call.target.accountId()
    : null
  if (call.options.dryRun) return previewImport(call, api, rows, ownAccount)

  const path = call.options.state ?? `${file}.import`
  const sha256 = createHash('sha256').update(text).digest('hex')
  const earlier = call.options.restart ? null : await readProgress(path)
  if (earlier !== null && (earlier.service !== api.url || earlier.sha256 !== sha256)) {
    throw new UsageError(
      `${path} is about another file or service. Give --restart to start over, or another --state FILE.`,
    )
  }
  const progress = earlier ?? { version: 1, service: api.url, sha256, done: 0, refused: 0 }
  if (progress.done > 0) call.note(`Going on after row ${progress.done}.`)
  for (const row of rows.slice(progress.done)) {
    const refusal = await registerRow(call, api, row, row.accountId ?? ownAccount)
    if (refusal !== null) {
      progress.refused++
      reportRow(call, row, refusal)
    }
    progress.done = row.row
    await writeProgress(path, progress)
  }
  await rm(path, { force: true })
  const registered = progress.done - progress.refused
  if (call.isJson) call.print(JSON.stringify({ registered, refused: progress.refused }))
  else {
    call.print(`${plural(registered, 'webhook is', 'webhooks are')} registered.`)
    if (progress.refused > 0)
      call.print(`${plural(progress.refused, 'row was', 'rows were')} refused.`)
  }
  if (progress.refused > 0) throw new SilentFailure()
}

async function readInput(file: string): Promise<string> {
  try {
    if ((await stat(file)).size > FILE_BYTES_MAX) {
      throw new UsageError('the file has more than 64 MiB: split it.')
    }
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(describeFault(error))
  }
}

async function readProgress(path: string): Promise<Progress | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  try {
    const progress = JSON.parse(text) as Progress
    if (progress.version === 1 && Number.isInteger(progress.done) && progress.sha256)
      return progress
  } catch {
    // Reported below.
  }
  throw new UsageError(`${path} is not the progress of this import. Give another --state FILE.`)
}

/** What is wrong with the row, or null when it is registered. A service that is away ends the import. */
async function registerRow(
  call: Call,
  api: Api,
  { faults, body }: EndpointRow,
  accountId: string | null,
): Promise<readonly string[] | null> {
  if (faults.length > 0) return faults
  try {
    await patiently(call, () =>
      api.post('/v1/webhooks/register', body, accountId === null ? {} : { accountId }),
    )
    return null
  } catch (error) {
    const isRows = error instanceof PaybellError && [400, 403, 409, 413].includes(error.status)
    if (!isRows) throw error
    const { problem } = error
    const fields = problem?.errors?.map((field) => `${field.pointer.slice(1)}: ${field.detail}`)
    return fields?.length ? fields : [problem?.detail ?? error.message]
  }
}

/** A client may call so often a minute: a long file reaches that limit, and goes on when the service says. */
async function patiently(call: Call, register: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await register()
      return
    } catch (error) {
      const isNotNow = error instanceof PaybellError && [429, 503].includes(error.status)
      if (!isNotNow || tries === TRIES_MAX) throw error
      const seconds = Math.min(error.retryAfterSeconds ?? 2 ** (tries - 1), WAIT_SECONDS_MAX)
      call.note(`The service asks to wait (${error.code}): going on in ${seconds} s.`)
      await delay(seconds * 1_000)
    }
  }
}

function reportRow(call: Call, { row, body }: EndpointRow, faults: readonly string[]): void {
  call.note(`Row ${row} (${String(body.callbackUrl ?? 'no address')}): ${faults.join(' ')}`)
}

async function previewImport(
  call: Call,
  api: Api,
  rows: readonly EndpointRow[],
  ownAccount: string | null,
): Promise<void> {
  const addresses = new Map<string, Promise<ReadonlySet<string>>>()
  const counts = { new: 0, known: 0, bad: 0 }
  for (const row of rows) {
    const account = row.accountId ?? ownAccount
    if (row.faults.length > 0 || account === null) {
      counts.bad++
      reportRow(call, row, row.faults)
      continue
    }
    const listed = addresses.get(account) ?? listAddresses(api, account)
    addresses.set(account, listed)
    if ((await listed).has(hrefOf(row.body.callbackUrl))) counts.known++
    else counts.new++
  }
  if (call.isJson) call.print(JSON.stringify(counts))
  else {
    call.print(
      `${plural(counts.new, 'webhook')} would be registered, ${counts.known} registered again, ${counts.bad} refused.`,
    )
  }
  if (counts.bad > 0) throw new SilentFailure()
}

async function listAddresses(api: Api, accountId: string): Promise<ReadonlySet<string>> {
  const addresses = new Set<string>()
  for (let page = 0; ; page++) {
    const answer = await api.call('GET', '/v1/webhooks/list', {
      accountId,
      query: { page, size: 100 },
    })
    const { content, totalPages } = answer.json<Page<Endpoint>>()
    for (const { endpointUrl } of content) addresses.add(hrefOf(endpointUrl))
    if (page + 1 >= totalPages) return addresses
  }
}
