// What an assistant may ask a service for, as tools: each a name, what it takes, and a call with the caller's own
// rights. Writing ones are apart, because they are offered only when that is allowed.

import type { ServiceCertificate } from '../../sdk/src/internal/operator-types.ts'
import { PaybellError } from '../../sdk/src/plain/errors.ts'
import type { Page, Statement } from '../../sdk/src/wire/types.ts'
import type { Api } from '../basics/api.ts'
import { UsageError } from '../basics/run.ts'

/** Who calls, and what it may see. */
export interface ToolCaller {
  api: Api
  isOperator: boolean
}

export interface Tool {
  name: string
  title: string
  description: string
  /** JSON Schema of each argument. */
  takes: Readonly<Record<string, object>>
  required: readonly string[]
  isWriting: boolean
  /** Left out for an operator, who has no such call. */
  isForClients?: boolean
  call(caller: ToolCaller, given: Arguments): Promise<string>
}

type Arguments = Readonly<Record<string, unknown>>

const ID = { type: 'string', format: 'uuid' }
const LIMIT = { type: 'integer', minimum: 1, maximum: 50, description: 'At most; 20 by default.' }
const INSTANT = { type: 'string', format: 'date-time' }

function reading(
  name: string,
  title: string,
  description: string,
  takes: Tool['takes'],
  required: readonly string[],
  call: Tool['call'],
): Tool {
  return { name, title, description, takes, required, isWriting: false, call }
}

const READING: readonly Tool[] = [
  reading(
    'find',
    'Find anything',
    'Finds payments, deliveries, endpoints and clients by any id, an external id, a name or an address. Begin here when you know only what a person calls it.',
    { text: { type: 'string', minLength: 1, maxLength: 200 } },
    ['text'],
    ({ api, isOperator }, { text }) => get(api, `${sideOf(isOperator)}/search`, { q: text }),
  ),
  reading(
    'show_payment',
    'Show a payment',
    'A payment as it is now: state, amount, external id.',
    { paymentId: ID },
    ['paymentId'],
    ({ api, isOperator }, { paymentId }) => get(api, `${sideOf(isOperator)}/payments/${paymentId}`),
  ),
  reading(
    'list_deliveries',
    'List deliveries',
    'Deliveries, newest first, by payment, endpoint, external id, state or the outcome of the last attempt (503, 5xx, timeout).',
    {
      paymentId: ID,
      endpointId: ID,
      externalId: { type: 'string', maxLength: 200 },
      state: {
        type: 'string',
        description: 'PENDING, DELIVERED, EXHAUSTED, SUPERSEDED, CANCELLED',
      },
      outcome: { type: 'string', maxLength: 100 },
      from: INSTANT,
      to: INSTANT,
      limit: LIMIT,
    },
    [],
    ({ api, isOperator }, given) =>
      get(api, `${sideOf(isOperator)}/deliveries`, { limit: 20, ...given }),
  ),
  reading(
    'explain_delivery',
    'Explain a delivery',
    'One delivery: its status in words, every attempt, what was sent and what the receiver answered.',
    { deliveryId: ID },
    ['deliveryId'],
    ({ api, isOperator }, { deliveryId }) =>
      get(api, `${sideOf(isOperator)}/deliveries/${deliveryId}`),
  ),
  reading(
    'list_endpoints',
    'List endpoints',
    'The addresses that callbacks go to, with their status and health: of every kind, oldest first, unless asked otherwise. Ask for those whose last attempts have failed, for a status, or for words of an address.',
    {
      failing: {
        type: 'boolean',
        description: 'true: only those that fail now; false: only the others.',
      },
      q: { type: 'string', maxLength: 200, description: 'Words of its address, or its id.' },
      status: { type: 'string', description: 'ACTIVE, PAUSED, DISABLED' },
      kind: { type: 'string', description: 'webhook, subscription, listener; all by default.' },
      sort: {
        type: 'string',
        description:
          'createdAt, endpointUrl or failingSince; with a minus before it, the other way round.',
      },
      page: { type: 'integer', minimum: 0, maximum: 1_000_000, description: 'From 0.' },
      size: LIMIT,
    },
    [],
    ({ api, isOperator }, given) =>
      isOperator
        ? get(api, '/operator/v1/endpoints', { size: 20, ...given })
        : get(api, '/v1/webhooks', { size: 20, kind: 'any', health: true, ...given }),
  ),
  reading(
    'show_endpoint',
    'Show an endpoint',
    'One endpoint, its settings and its health: how many deliveries are pending, since when it fails, when it is tried next. No secret of it is shown.',
    { endpointId: ID },
    ['endpointId'],
    async ({ api, isOperator }, { endpointId }) =>
      get(api, await pathOf(api, isOperator, String(endpointId))),
  ),
  reading(
    'list_certificates',
    'List certificates',
    'The client certificates (mTLS) that receivers are shown when they ask who calls: the subject of each, when it ends, which is the default and, for an operator, which clients may use it and how many endpoints do. A client sees those that it may use. An endpoint names one in `tls.clientCertificate`.',
    {},
    [],
    async ({ api, isOperator }) =>
      withoutText(await get(api, `${sideOf(isOperator)}/client-certificates`, { size: 50 })),
  ),
  reading(
    'statement',
    'Statement of an endpoint',
    'Whether anything is missing: how many events an endpoint had to get and got between two whole hours, at most 31 days apart, and the status of the others, hour by hour. Hours without an event for it are left out.',
    { endpointId: ID, from: INSTANT, to: INSTANT },
    ['endpointId', 'from', 'to'],
    async ({ api, isOperator }, { endpointId, from, to }) => {
      const path = await pathOf(api, isOperator, String(endpointId))
      return shorten(await get(api, `${path}/statement`, { from, to }))
    },
  ),
  {
    name: 'verify_signature',
    title: 'Verify a signature',
    description:
      'Whether the headers of a callback that was received fit its body under the shared key of the endpoint, and if not, which mistake it is.',
    takes: {
      endpointId: ID,
      headers: { type: 'object', additionalProperties: { type: 'string' } },
      body: { type: 'string', description: 'Exactly as it was received.' },
    },
    required: ['endpointId', 'headers', 'body'],
    isWriting: false,
    isForClients: true,
    async call({ api }, { endpointId, headers, body }) {
      const path = await pathOf(api, false, String(endpointId))
      const bodyBase64 = Buffer.from(String(body)).toString('base64')
      return (await api.post(`${path}/verify`, { headers, bodyBase64 })).text
    },
  },
]

function acting(
  name: string,
  title: string,
  description: string,
  what: 'deliveryId' | 'endpointId',
  call: (caller: ToolCaller, id: string) => Promise<string>,
): Tool {
  return {
    name,
    title,
    description,
    takes: { [what]: ID },
    required: [what],
    isWriting: true,
    call: (caller, given) => call(caller, String(given[what])),
  }
}

const WRITING: readonly Tool[] = [
  acting(
    'retry_delivery',
    'Retry a delivery',
    'Sends a pending delivery now, in the same run of 7 days; older updates of its payment go first.',
    'deliveryId',
    ({ api, isOperator }, id) => post(api, `${sideOf(isOperator)}/deliveries/${id}/retry`),
  ),
  acting(
    'replay_delivery',
    'Replay a delivery',
    'Sends a delivery again that has ended: the same bytes, for a new run of 7 days.',
    'deliveryId',
    ({ api, isOperator }, id) => post(api, `${sideOf(isOperator)}/deliveries/${id}/replay`),
  ),
  acting(
    'retry_endpoint',
    'Retry an endpoint',
    'Makes all pending deliveries of an endpoint due now, after its receiver was fixed.',
    'endpointId',
    async ({ api, isOperator }, id) => post(api, `${await pathOf(api, isOperator, id)}/retry`),
  ),
  acting(
    'pause_endpoint',
    'Pause an endpoint',
    'Stops callbacks to an endpoint; its deliveries wait.',
    'endpointId',
    (caller, id) => setStatus(caller, id, 'PAUSED'),
  ),
  acting(
    'resume_endpoint',
    'Resume an endpoint',
    'Lets callbacks to an endpoint go out again, in order.',
    'endpointId',
    (caller, id) => setStatus(caller, id, 'ACTIVE'),
  ),
]

export function toolsFor(of: { isOperator: boolean; isWriting: boolean }): readonly Tool[] {
  const all = of.isWriting ? [...READING, ...WRITING] : READING
  return all.filter(({ isForClients }) => !(isForClients && of.isOperator))
}

function sideOf(isOperator: boolean): string {
  return isOperator ? '/operator/v1' : '/v1'
}

async function get(api: Api, path: string, query: Arguments = {}): Promise<string> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const texts = given.map(([name, value]) => [name, String(value)] as const)
  return (await api.get(path, Object.fromEntries(texts))).text
}

/** A fingerprint says enough to an assistant, and is shorter than the chain. */
function withoutText(page: string): string {
  const { content, ...rest } = JSON.parse(page) as Page<Partial<ServiceCertificate>>
  const shown = content.map(
    ({ certificatePem: _, certificateRequestPem: __, ...certificate }) => certificate,
  )
  return JSON.stringify({ ...rest, content: shown })
}

/** Without empty hours, of which a month has hundreds, and without the signature, which an assistant cannot check. */
function shorten(statement: string): string {
  const { hours, jws: _, ...sums } = JSON.parse(statement) as Statement
  return JSON.stringify({ ...sums, hours: hours.filter(({ owed }) => owed > 0) })
}

async function post(api: Api, path: string): Promise<string> {
  return (await api.post(path)).text
}

async function setStatus(
  { api, isOperator }: ToolCaller,
  id: string,
  status: 'ACTIVE' | 'PAUSED',
): Promise<string> {
  const path = await pathOf(api, isOperator, id)
  return (await api.call('PATCH', path, { body: { status } })).text
}

/** A client's webhooks and subscriptions have different addresses, and an id does not tell which it is. */
async function pathOf(api: Api, isOperator: boolean, id: string): Promise<string> {
  if (isOperator) return `/operator/v1/endpoints/${id}`
  for (const path of ['/v1/webhooks', '/api/v1/payments/subscriptions', '/v1/listeners']) {
    try {
      await api.get(`${path}/${id}`)
      return `${path}/${id}`
    } catch (error) {
      if (!(error instanceof PaybellError && error.status === 404)) throw error
    }
  }
  throw new UsageError('there is no such endpoint.')
}
