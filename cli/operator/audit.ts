// `paybell audit …`: the head of the sealed audit, its export, and a check that recomputes it: from a service, from a
// file or from the database.

import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { type Command, Option } from 'commander'
import type { AuditHead } from '../../sdk/src/internal/operator-types.ts'
import { AuditChecker, type KnownHead } from '../../server/core/proofs/audit-check.ts'
import {
  type AuditResult,
  type Verdict,
  verdictOf,
} from '../../server/core/proofs/audit-finding.ts'
import { readSealKeys, type SealKeys } from '../../server/core/proofs/seal-signature.ts'
import { type Call, calling, family, operatorCommand } from '../basics/command.ts'
import { instant } from '../basics/parse.ts'
import { SilentFailure, UsageError } from '../basics/run.ts'
import { formatTime, plural } from '../basics/terminal.ts'
import { checkLines } from './audit-lines.ts'

const PATH = '/operator/v1/audit'
const KEYS_PATH = '/.well-known/webhook-keys.json'

interface VerifyOptions {
  keys?: string
  head?: string
  database?: boolean
}

export function auditCommand(): Command {
  return family('audit', 'Export and verify the sealed audit.', [head(), exporting(), verify()])
}

function head(): Command {
  return operatorCommand(
    'head',
    'Show the newest seal. Keep it elsewhere: it proves all before it.',
    ['paybell audit head', 'paybell audit head --json > head.json'],
  ).action(
    calling(async (call: Call) => {
      const answer = await (await call.operator()).get(`${PATH}/head`)
      call.answer<AuditHead>(answer, (seal) => {
        const { verification } = seal
        call.fields([
          ['Segment', seal.segment],
          ['Rows', seal.count],
          ['Sealed', formatTime(seal.sealedAt)],
          ['Digest', seal.digest],
          ['Previous', seal.previous],
          [
            'Verified',
            verification === null
              ? 'never'
              : `${formatTime(verification.at)}: ${verification.verdict}`,
          ],
        ])
        if (verification?.finding) call.note(verification.finding.detail)
      })
    }),
  )
}

function exporting(): Command {
  return operatorCommand('export', 'Print the audit with its seals, as NDJSON.', [
    'paybell audit export > audit.ndjson',
    'paybell audit export --from 2026-11-01T00:00:00Z --to 2026-12-01T00:00:00Z > november.ndjson',
  ])
    .option(
      '--from <time>',
      'from the first segment that was sealed at this time or later',
      instant,
    )
    .option('--to <time>', 'to the first segment that was sealed at this time or later', instant)
    .action(
      calling(async (call: Call<{ from?: string; to?: string }>) => {
        const { from, to } = call.options
        const lines = await (await call.operator()).download(`${PATH}/export`, { from, to })
        await pipeline(lines, process.stdout, { end: false })
      }),
    )
}

function verify(): Command {
  return operatorCommand(
    'verify',
    'Recompute the audit, and name the first row that was altered. Exit codes: 0 valid, 3 partial, 1 invalid.',
    [
      'paybell audit verify',
      'paybell audit verify audit.ndjson --keys keys.json --head head.json',
      'DATABASE_URL=postgres://… paybell audit verify --database',
    ],
  )
    .argument('[file]', 'an export; without it, what the service exports')
    .option('--keys <file>', `public keys that were saved from ${KEYS_PATH}; no others are trusted`)
    .option('--head <file>', 'a head that was saved before, and must be in the chain')
    .addOption(
      new Option('--database', 'read the database of DATABASE_URL, without the service').conflicts(
        'url',
      ),
    )
    .action(calling(runVerify))
}

async function runVerify(call: Call<VerifyOptions>, file?: string): Promise<void> {
  const { options } = call
  const heads = options.head === undefined ? [] : [await readHead(options.head)]
  const keys = options.keys === undefined ? null : await readKeys(options.keys)
  if (options.database && file !== undefined) {
    throw new UsageError('give a file or --database, not both.')
  }
  if (options.database || (file === undefined && isDatabaseMeant(call))) {
    const { verifyDatabase } = await import('../service/verify-database.ts')
    return show(call, await verifyDatabase(keys, heads))
  }
  const checker = new AuditChecker(keys ?? (await fetchKeys(call)), heads)
  if (file !== undefined) {
    return show(call, await checkLines(checker, createReadStream(file), { isWhole: false }))
  }
  const lines = await (await call.operator()).download(`${PATH}/export`, {})
  show(call, await checkLines(checker, lines, { isWhole: true }))
}

/** A database is named, and no service. */
function isDatabaseMeant({ options, target }: Call<VerifyOptions>): boolean {
  const { DATABASE_URL, DATABASE_URL_FILE } = process.env
  const { url, profile } = target.config
  const isNamed =
    (options.url ?? url ?? options.profile ?? profile) !== null || options.keyFile !== undefined
  return !isNamed && Boolean(DATABASE_URL || DATABASE_URL_FILE)
}

async function fetchKeys(call: Call): Promise<SealKeys> {
  const api = await call.operator()
  const answer = await api.get(KEYS_PATH).catch((error: unknown) => {
    if ((error as { status?: number }).status !== 404) throw error
    throw new UsageError(
      `${api.url} does not publish the keys: it is the operator's port. Save ${KEYS_PATH} of the public one, and give it with --keys.`,
    )
  })
  return readSealKeys(answer.json())
}

async function readKeys(path: string): Promise<SealKeys> {
  const json = await readJson(path)
  try {
    return readSealKeys(json)
  } catch (error) {
    throw new UsageError(`${path} holds a key that cannot be used: ${(error as Error).message}`)
  }
}

async function readHead(path: string): Promise<KnownHead> {
  const { segment, digest } = (await readJson(path)) as Partial<KnownHead>
  if (
    !Number.isSafeInteger(segment) ||
    (segment ?? 0) < 1 ||
    !/^[0-9a-f]{64}$/.test(digest ?? '')
  ) {
    throw new UsageError(`${path} holds no head: save one with paybell audit head --json.`)
  }
  return { segment: segment as number, digest: digest as string }
}

async function readJson(path: string): Promise<unknown> {
  try {
    const value = JSON.parse(await readFile(path, 'utf8'))
    // The notice has the head inside.
    return value?.head ?? value
  } catch (error) {
    throw new UsageError(`${path} cannot be read as JSON: ${(error as Error).message}`)
  }
}

/** Scripts tell the verdicts apart by these; 2 is a wrong use of the command. */
const EXIT_CODES: Readonly<Record<Verdict, number>> = { valid: 0, partial: 3, invalid: 1 }

function show(call: Call, result: AuditResult): void {
  const { finding, checked } = result
  const verdict = verdictOf(result)
  if (call.isJson) {
    call.print(JSON.stringify({ verdict, valid: verdict === 'valid', finding, ...checked }))
  } else if (finding !== null) {
    call.print(`${call.paint.red(finding.code)}: ${finding.detail}`)
  } else if (checked.last === null) {
    call.print('Nothing is sealed yet.')
  } else {
    call.print(describeChecked(checked))
    call.fields([['Head', checked.head as string]])
  }
  if (!call.isJson) for (const remark of checked.remarks) call.print(`Note: ${remark}`)
  if (verdict !== 'valid') throw new SilentFailure(EXIT_CODES[verdict])
}

function describeChecked({ rows, segments, first, last, dropped }: AuditResult['checked']): string {
  const range = `${plural(segments, 'segment')} (${first} to ${last})`
  if (dropped.length === 0) {
    return `valid: all ${plural(rows, 'row')} in ${range} are as they were sealed.`
  }
  const spans = dropped.map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`))
  return `partial: of ${range}, ${plural(rows, 'row')} were checked and are as they were sealed. Retention has dropped rows of segments ${spans.join(', ')}, under a drop that the service has signed: nothing proves what they said.`
}
