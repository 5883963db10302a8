// `paybell signature …`: signs and verifies as callbacks are signed, without a service. The first
// question of an integrator who writes a receiver is why the signature does not match.

import { randomBytes, randomUUID } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { Command } from 'commander'
import {
  KEY_ID_HEADER,
  type ServiceKey,
} from '../../server/core/signatures/asymmetric-signature.ts'
import { HMAC_HEADER } from '../../server/core/signatures/callback-headers.ts'
import { hmacHex, standardSignature, toSigningKey } from '../../server/core/signatures/signature.ts'
import { type Diagnosis, diagnose } from '../../server/core/signatures/signature-doctor.ts'
import { type Call, calling, family, JSON_HELP, plainCommand } from '../basics/command.ts'
import { readGivenBytes } from '../basics/given-file.ts'
import { gather, integer } from '../basics/parse.ts'
import { SilentFailure, UsageError } from '../basics/run.ts'
import { type HmacHeaderOptions, withHmacHeader } from './hmac-header.ts'
import { findPublicKeys, type PublicKeyOptions } from './public-keys.ts'
import {
  findSharedKey,
  requireSharedKey,
  type SharedKeyOptions,
  withSharedKey,
} from './shared-key.ts'

export function signatureCommand(): Command {
  return family('signature', 'Sign and verify the way callbacks are signed, without a service.', [
    sign(),
    verify(),
  ])
}

function offlineCommand(name: string, about: string, examples: readonly string[]): Command {
  const command = plainCommand(name, about, examples)
    .argument('<file>', 'the body, byte for byte; - reads it from stdin')
    .option('--json', JSON_HELP)
  return withHmacHeader(withSharedKey(command))
}

interface SignOptions extends SharedKeyOptions, HmacHeaderOptions {
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
          [call.options.hmacHeaderName ?? HMAC_HEADER]: hmacHex(key, body),
          'webhook-id': webhookId,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': standardSignature(key, webhookId, timestamp, body),
        }
        if (call.isJson) call.print(JSON.stringify(headers))
        else for (const [name, value] of Object.entries(headers)) call.print(`${name}: ${value}`)
      }),
    )
}

interface VerifyOptions extends SharedKeyOptions, PublicKeyOptions, HmacHeaderOptions {
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
      'paybell signature verify body.json --public-key whpk_6jAK… -H "webhook-id: 01a1…" \\\n' +
        '      -H "webhook-timestamp: 1794722400" -H "webhook-signature: v1a,…"',
    ],
  )
    .option('-H, --header <name: value>', 'a header as it came; may be given several times', gather)
    .option('--hmac <hex>', `short for -H "${HMAC_HEADER}: …", or the name that you give`)
    .option(
      '--public-key <key>',
      'a public key of Paybell (whpk_…) that verifies v1a; may be given several times',
      gather,
    )
    .option('--public-keys-file <file>', 'a saved /.well-known/webhook-keys.json, for v1a')
    .option('--any-time', 'do not mind how old webhook-timestamp is')
    .action(calling(verifySignatures))
}

async function verifySignatures(call: Call<VerifyOptions>, file: string): Promise<void> {
  const headers = toHeaders(call.options)
  const { hmacHeaderName } = call.options
  const serviceKeys = await findPublicKeys(call.options, headers[KEY_ID_HEADER.toLowerCase()])
  const sharedKey =
    serviceKeys === undefined ? await requireSharedKey(call) : await findSharedKey(call)
  const body = await readBody(file)
  const timestamp = headers['webhook-timestamp']
  const isAnyTime = call.options.anyTime && timestamp !== undefined
  const nowMs = isAnyTime ? Number(timestamp) * 1_000 : Date.now()
  const diagnosis = sharedKey
    ? checkSignature({ headers, body, sharedKey, nowMs, serviceKeys, hmacHeaderName })
    : checkAsymmetric({ headers, body, nowMs, serviceKeys })
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
function toHeaders({
  header = [],
  hmac,
  hmacHeaderName = HMAC_HEADER,
}: VerifyOptions): Record<string, string> {
  const headers = Object.fromEntries(
    header.map((text) => {
      const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(text) ?? []
      if (name === undefined || value === undefined) {
        throw new UsageError('a header looks like "webhook-id: 01a1dd3c-…".')
      }
      return [name.toLowerCase(), value]
    }),
  )
  if (hmac !== undefined) headers[hmacHeaderName.toLowerCase()] = hmac
  if (Object.keys(headers).length === 0) {
    throw new UsageError(`give --hmac (the header ${hmacHeaderName}) or -H "name: value".`)
  }
  return headers
}

interface GivenCallback {
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array
  sharedKey: string
  nowMs: number
  serviceKeys?: readonly ServiceKey[] | undefined
  hmacHeaderName?: string | undefined
}

const PREVIOUS_HEADER = `${HMAC_HEADER}-Previous`

/** The signature doctor of the service, with the one key that is at hand: the new one, or the one from before a rotation. */
export function checkSignature(given: GivenCallback): Diagnosis {
  const diagnosis = diagnoseWithKey(given)
  const { headers, hmacHeaderName = HMAC_HEADER } = given
  const previous = headers[PREVIOUS_HEADER.toLowerCase()]
  if (diagnosis.valid || previous === undefined) return diagnosis
  const before = { ...headers, [hmacHeaderName.toLowerCase()]: previous }
  const { valid, findings } = diagnoseWithKey({ ...given, headers: before })
  return valid ? { valid, findings: [...findings, REPLACED] } : diagnosis
}

const REPLACED = {
  code: 'previous-key',
  detail: `This key was replaced. ${HMAC_HEADER} is made with the new one; ${PREVIOUS_HEADER} is made with this one until 24 hours after the rotation.`,
} as const

function diagnoseWithKey(given: GivenCallback): Diagnosis {
  const { headers, body, nowMs, serviceKeys, hmacHeaderName } = given
  const keys = { current: toSigningKey(given.sharedKey), previous: null }
  return diagnose({
    headers,
    body,
    keys,
    nowMs,
    eventBody: null,
    ...(serviceKeys && { serviceKeys }),
    ...(hmacHeaderName && { hmacHeaderName }),
  })
}

/** Without a shared key nothing can be said of what was made with it: only v1a is looked at. */
function checkAsymmetric(given: {
  headers: Readonly<Record<string, string>>
  body: Uint8Array
  nowMs: number
  serviceKeys: readonly ServiceKey[] | undefined
}): Diagnosis {
  const kept = ['webhook-id', 'webhook-timestamp', KEY_ID_HEADER.toLowerCase()]
  const headers = Object.fromEntries(
    Object.entries(given.headers).filter(([name]) => kept.includes(name)),
  )
  const entries = given.headers['webhook-signature']?.split(/\s+/) ?? []
  const asymmetric = entries.filter((entry) => entry.startsWith('v1a,')).join(' ')
  const { valid, findings } = checkSignature({
    ...given,
    headers: { ...headers, 'webhook-signature': asymmetric },
    sharedKey: randomBytes(32).toString('base64'),
  })
  // There may have been a v1: it was left out here.
  return { valid, findings: findings.filter(({ code }) => code !== 'v1a-not-v1') }
}

const seconds = integer(0, 100_000_000_000)

async function readBody(file: string): Promise<Buffer> {
  return file === '-' ? buffer(process.stdin) : readGivenBytes(file)
}
