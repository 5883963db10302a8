// The list of a receiver check: callbacks, good and bad, and what each must be answered with.

import {
  type CheckMaterial,
  type CheckPost,
  inParts,
  makeEvent,
  makePost,
  withoutSignatures,
} from './receiver-check-posts.ts'

export interface CheckItem {
  code: string
  title: string
  /** What it must be answered with: 200, or anything that is a refusal. */
  expects: '200' | 'refusal'
  posts(material: CheckMaterial): readonly CheckPost[]
  /** What a wrong answer means, and what to do about it. */
  means: string
  mend: string
}

const STALE_MS = 3_600_000
const DOCUMENT_BYTES = 1_024 * 1_024
/** Longer than senders join in memory, so that the parts leave one by one. */
const SLOW_DOCUMENT_BYTES = 96 * 1_024
const SLOW_PARTS = 5
const SLOW_PAUSE_MS = 400

/** Combining marks, right to left, quotation marks, a backslash, beyond the basic plane, line separator. */
const UNICODE_TEXT =
  'Zürich · Łódź · Αθήνα · Москва · 東京 · مكة · e\u0301 · "quoted" \\ / · 🔔💶 · \u2028 end'

const VERIFY_FIRST =
  'Compute the HMAC over the raw body with the shared key, compare it in constant time, and answer 401 when it differs, before anything else is done with the body.'

/** The first one is the measure of the others: it is the plain case. */
export const CHECK_ITEMS: readonly CheckItem[] = [
  {
    code: 'valid-signature',
    title: 'A valid callback is answered with 200',
    expects: '200',
    posts: (material) => [makePost(material, makeEvent(material))],
    means: 'Every callback would be sent again and again for 7 days.',
    mend: 'Verify the signature over the raw bytes of the body with the shared key of this endpoint, and answer exactly 200.',
  },
  {
    code: 'tampered-body',
    title: 'A body that was changed on its way is refused',
    expects: 'refusal',
    posts: (material) => {
      const made = makeEvent(material)
      // Signed as one text, sent as another of the same length, as if the amount were raised on the way.
      const raised = made.text.replace('"amount":100.00', '"amount":900.00')
      return [{ ...makePost(material, made), body: [Buffer.from(raised)] }]
    },
    means: 'Anyone on the way could change an amount unnoticed.',
    mend: VERIFY_FIRST,
  },
  {
    code: 'wrong-signature',
    title: 'A signature made with another key is refused',
    expects: 'refusal',
    posts: (material) => [
      makePost(
        {
          ...material,
          keys: { current: material.strangeKey, previous: null },
          signedEventId: material.newId(),
        },
        makeEvent(material),
      ),
    ],
    means: 'Anyone who knows the address could invent payments.',
    mend: VERIFY_FIRST,
  },
  {
    code: 'missing-signature',
    title: 'A callback without a signature is refused',
    expects: 'refusal',
    posts: (material) => {
      const made = makePost(material, makeEvent(material))
      return [{ ...made, headers: withoutSignatures(made.headers, material.hmacHeaderName) }]
    },
    means: 'Anyone who knows the address could invent payments, without even trying to sign them.',
    mend: 'Answer 401 when neither signature header is there; a missing signature is a wrong one.',
  },
  {
    code: 'stale-timestamp',
    title: 'A callback that is an hour old is refused',
    expects: 'refusal',
    posts: (material) => [
      makePost({ ...material, nowMs: material.nowMs - STALE_MS }, makeEvent(material)),
    ],
    means: 'Someone who recorded a callback could send it again at any time.',
    mend: `Check webhook-signature, which covers webhook-timestamp, and refuse what is more than five minutes away from your clock. The HMAC alone cannot tell.`,
  },
  {
    code: 'same-event-twice',
    title: 'The same event twice is answered with 200 twice',
    expects: '200',
    posts: (material) => {
      const made = makeEvent(material)
      return [makePost(material, made), makePost(material, { ...made, attempt: 2 })]
    },
    means:
      'An event may come again, for instance when your first answer got lost. Refused, it is repeated for 7 days.',
    mend: 'Remember webhook-id, and answer 200 at once to one that you have seen.',
  },
  {
    code: 'late-update',
    title: 'Update 1 that comes after update 2 is answered with 200',
    expects: '200',
    posts: (material) => {
      const paymentId = material.newId()
      const second = makeEvent(material, { paymentId, sequence: 2, state: 'PAID' })
      const first = makeEvent(material, { paymentId, sequence: 1, state: 'DUE' })
      return [makePost(material, second), makePost(material, first)]
    },
    means:
      'A replay, or an update that others overtook, may come late. Refused, it is repeated for 7 days.',
    mend: 'Compare X-Paybell-Sequence with the highest one of the payment; drop what is older, and answer 200.',
  },
  {
    code: 'unknown-fields',
    title: 'Members that are new are ignored',
    expects: '200',
    posts: (material) => {
      const made = makeEvent(material)
      const more = `,"settlement":{"batch":17,"tags":["a","b"]},"rate":1.0850}`
      return [makePost(material, { ...made, text: made.text.slice(0, -1) + more })]
    },
    means: 'The day a member is added, every callback would fail.',
    mend: 'Read the members that you know and ignore the others; turn strict parsing off.',
  },
  {
    code: 'unicode',
    title: 'Text in any script arrives unharmed',
    expects: '200',
    posts: (material) => [makePost(material, makeEvent(material, { reference: UNICODE_TEXT }))],
    means: 'The first payment with an umlaut would be refused.',
    mend: 'Compute the HMAC over the bytes as they came. If they must be text first, decode them as UTF-8 and nothing else, and do not normalise.',
  },
  {
    code: 'large-document',
    title: 'A document of 1 MB is taken',
    expects: '200',
    posts: (material) => [
      makePost(material, makeEvent(material, { documentBytes: DOCUMENT_BYTES })),
    ],
    means: 'Callbacks carry receipts of up to 10 MB, 14 MB in base64.',
    mend: 'Raise the limit for bodies to 15 MB, in your framework and in the proxy before it.',
  },
  {
    code: 'slow-body',
    title: 'A body that arrives slowly is waited for',
    expects: '200',
    posts: (material) => {
      const made = makePost(material, makeEvent(material, { documentBytes: SLOW_DOCUMENT_BYTES }))
      return [{ ...made, body: inParts(made.body, SLOW_PARTS), pauseMs: SLOW_PAUSE_MS }]
    },
    means: 'Networks are slow at times, and bodies come in pieces.',
    mend: 'Read the body to its end, all of its pieces, before you verify it; allow it 15 seconds.',
  },
]
