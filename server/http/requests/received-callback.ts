// A callback as its receiver got it, for the signature doctor: its headers, and its body as text or as bytes. Both are
// read in steps, because they may be large.

import type { Steps } from '../../core/plain/steps.ts'
import { BASE64_PATTERN } from '../basics/scalars.ts'
import { Type } from '../basics/type.ts'
import { invalidFields } from '../basics/validation.ts'

type GivenHeaders = Record<string, string | string[]>

/** Characters that are encoded in a step. */
const ENCODED_CHARACTERS_MAX = 1_024 * 1_024

/** All values together: what servers take is less. */
const HEADERS_CHARACTERS_MAX = 64 * 1_024

export const ReceivedCallback = Type.Object(
  {
    headers: Type.Unsafe<GivenHeaders>({
      type: 'object',
      maxProperties: 200,
      additionalProperties: {
        type: ['string', 'array'],
        // Their lengths are checked all together: to count characters takes the validator as long as all else.
        items: { type: 'string', published: { maxLength: HEADERS_CHARACTERS_MAX } },
        published: { maxLength: HEADERS_CHARACTERS_MAX },
        maxItems: 20,
      },
      description:
        'The headers as your receiver got them, names in any case; 64 KiB of them at most.',
    }),
    body: Type.Optional(
      Type.String({ description: 'The body as text; either this or bodyBase64.' }),
    ),
    bodyBase64: Type.Optional(
      Type.String({
        description: 'The exact bytes of the body, in base64.',
        published: { contentEncoding: 'base64', pattern: BASE64_PATTERN },
      }),
    ),
  },
  {
    published: { oneOf: [{ required: ['body'] }, { required: ['bodyBase64'] }] },
    examples: [
      {
        headers: {
          'X-Paybell-Hmac': '6990777c822d21d78c253cc0ed2bf83bb5ba6fceb61e8829f60887e7bb3e4ca1',
          'webhook-id': '01a1de8b-3a40-7000-83de-2166a587a47e',
        },
        body: '{"id": "7c0d0a5e-54c8-4b56-9f0e-2a4f5d1c9b11"}',
      },
    ],
  },
)

function checkLength(headers: GivenHeaders): void {
  const values = Object.values(headers).flat()
  const length = values.reduce((sum, value) => sum + value.length, 0)
  if (length <= HEADERS_CHARACTERS_MAX) return
  const detail = `Must have at most ${HEADERS_CHARACTERS_MAX} characters, all values together.`
  throw invalidFields([{ pointer: '/headers', code: 'too-long', detail }])
}

/** A header that came twice is one list, as HTTP has it (RFC 9110 §5.3). */
export function readHeaders(headers: GivenHeaders): Record<string, string> {
  checkLength(headers)
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : value.join(' '),
    ]),
  )
}

export function* readBody(text: string | undefined, base64: string | undefined): Steps<Uint8Array> {
  if ((text === undefined) === (base64 === undefined)) {
    throw invalidFields([
      {
        pointer: '/body',
        code: text === undefined ? 'missing' : 'given-twice',
        detail: 'Give the body either as text in body or as bytes in bodyBase64.',
      },
    ])
  }
  if (text !== undefined) return yield* encode(text)
  const bytes = Buffer.from(base64 as string, 'base64')
  yield
  if (!isBase64(base64 as string, bytes)) {
    throw invalidFields([
      { pointer: '/bodyBase64', code: 'not-base64', detail: 'Must be base64 (RFC 4648 §4).' },
    ])
  }
  return bytes
}

function* encode(text: string): Steps<Uint8Array> {
  const parts: Buffer[] = []
  for (let at = 0; at < text.length; ) {
    const end = at + ENCODED_CHARACTERS_MAX
    // Not between the two halves of a character.
    const isCut = /[\ud800-\udbff]/.test(text.charAt(end - 1))
    parts.push(Buffer.from(text.slice(at, isCut ? end - 1 : end)))
    at = isCut ? end - 1 : end
    yield
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
}

/** Node skips what is no base64, and takes its other alphabet: then bytes are missing, or letters are there. */
function isBase64(text: string, bytes: Buffer): boolean {
  const digits = text.replace(/={0,2}$/, '')
  const isWhole = Math.floor((digits.length * 3) / 4) === bytes.length && digits.length % 4 !== 1
  const tail = bytes.subarray(bytes.length - (bytes.length % 3)).toString('base64')
  const hasOwnBits = digits.endsWith(tail.replace(/=+$/, ''))
  return isWhole && hasOwnBits && !digits.includes('-') && !digits.includes('_')
}
