// `paybell signature …`: signs and verifies as callbacks are signed, without a service. The first
// question of an integrator who writes a receiver is why the signature does not match.

import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { Command } from 'commander'
import { HMAC_HEADER } from '../server/core/callback-headers.ts'
import { hmacHex, standardSignature, toSigningKey } from '../server/core/signature.ts'
import { type Diagnosis, diagnose } from '../server/core/signature-doctor.ts'
import { type Call, calling, family, helpText, JSON_HELP } from './command.ts'
import { gather, integer } from './parse.ts'
import { SilentFailure, UsageError } from './run.ts'
import { requireSharedKey, type SharedKeyOptions, withSharedKey } from './shared-key.ts'

export function signatureCommand(): Command {
  return family('signature', 'Sign and verify the way callbacks are signed, without a service.', [
    sign(),
    verify(),
  ])
}

function offlineCommand(name: string, about: string, examples: readonly string[]): Command {
  return withSharedKey(
    new Command(name)
      .description(about)
      .argument('<file>', 'the body, byte for byte; - reads it from stdin')
      .option('--json', JSON_HELP)
      .addHelpText('after', helpText(examples)),
  )
}

interface SignOptions extends SharedKeyOptions {
  webhookId?: string
  timestamp?: number
}

function sign(): Command {
  return offlineCommand('sign', 'Print the signature headers for a body.', [
    'paybell signature sign body.json --shared-key-file key.txt',
    'printf %s "{}" | paybell signature sign - --shared-key only-we-two-know-this',
  ])
    .option('--webhook-id <id>', 'the webhook-id header (default: a new one)')
    .option('--timestamp <seconds>', 'the webhook-timestamp header (default: now)', seconds)
    .action(
      calling(async (call: Call<SignOptions>, file: string) => {
        const key = toSigningKey(await requireSharedKey(call))
        const body = [await readBody(file)]
        const webhookId = call.options.webhookId ?? randomUUID()
        const timestamp = call.options.timestamp ?? Math.floor(Date.now() / 1_000)
        const headers = {
          [HMAC_HEADER]: hmacHex(key, body),
          'webhook-id': webhookId,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': standardSignature(key, webhookId, timestamp, body),
        }
        if (call.isJson) call.print(JSON.stringify(headers))
        else for (const [name, value] of Object.entries(headers)) call.print(`${name}: ${value}`)
      }),
    )
}

interface VerifyOptions extends SharedKeyOptions {
  header?: string[]
  hmac?: string
  anyTime?: boolean
}

function verify(): Command {
  return offlineCommand(
    'verify',
    'Check signature headers against a body, and name the mistake; exit 1 when they do not hold.',
    [
      'paybell signature verify body.json --shared-key-file key.txt --hmac 0f3c…',
      'paybell signature verify body.json --shared-key-file key.txt -H "webhook-id: 01a1…" \\\n' +
        '      -H "webhook-timestamp: 1794722400" -H "webhook-signature: v1,Q2k…" --any-time',
    ],
  )
    .option('-H, --header <name: value>', 'a header as it came; may be given several times', gather)
    .option('--hmac <hex>', `short for -H "${HMAC_HEADER}: …"`)
    .option('--any-time', 'do not mind how old webhook-timestamp is')
    .action(calling(verifySignatures))
}

async function verifySignatures(call: Call<VerifyOptions>, file: string): Promise<void> {
  const headers = toHeaders(call.options)
  const sharedKey = await requireSharedKey(call)
  const body = await readBody(file)
  const timestamp = headers['webhook-timestamp']
  const isAnyTime = call.options.anyTime && timestamp !== undefined
  const nowMs = isAnyTime ? Number(timestamp) * 1_000 : Date.now()
  const diagnosis = checkSignature({ headers, body, sharedKey, nowMs })
  if (call.isJson) call.print(JSON.stringify(diagnosis))
  else {
    const { valid, findings } = diagnosis
    call.print(
      valid
        ? call.paint.green('The signature holds.')
        : call.paint.red('The signature does not hold.'),
    )
    for (const { code, detail } of findings) call.print(`  ${code}: ${detail}`)
  }
  if (!diagnosis.valid) throw new SilentFailure()
}

/** Names in lower case. */
function toHeaders({ header = [], hmac }: VerifyOptions): Record<string, string> {
  const headers = Object.fromEntries(
    header.map((text) => {
      const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(text) ?? []
      if (name === undefined || value === undefined) {
        throw new UsageError('a header looks like "webhook-id: 01a1dd3c-…".')
      }
      return [name.toLowerCase(), value]
    }),
  )
  if (hmac !== undefined) headers[HMAC_HEADER.toLowerCase()] = hmac
  if (Object.keys(headers).length === 0) {
    throw new UsageError(`give --hmac (the header ${HMAC_HEADER}) or -H "name: value".`)
  }
  return headers
}

/** The signature doctor of the service, with the one key that is at hand. */
export function checkSignature(given: {
  headers: Readonly<Record<string, string>>
  body: Uint8Array
  sharedKey: string
  nowMs: number
}): Diagnosis {
  const { headers, body, nowMs } = given
  const keys = { current: toSigningKey(given.sharedKey), previous: null }
  return diagnose({ headers, body, keys, nowMs, eventBody: null })
}

const seconds = integer(0, 100_000_000_000)

async function readBody(file: string): Promise<Buffer> {
  if (file === '-') return buffer(process.stdin)
  return readFile(file).catch((error: Error) => {
    throw new UsageError(`${file} cannot be read: ${error.message}`)
  })
}
