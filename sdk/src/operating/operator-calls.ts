// The operator's calls about clients, accounts, endpoints, keys and the service itself.

import { type Caller, segment } from '../calling/caller.ts'
import type { PageQuery } from '../calling/endpoint-calls.ts'
import { cursorItems, pageItems } from '../calling/lists.ts'
import type { CallOptions } from '../calling/transport.ts'
import type { Window } from '../plain/ids-digest.ts'
import type {
  Account,
  AuditHead,
  AuditItem,
  AuditQuery,
  CellItem,
  ClientItem,
  ClientKey,
  ClientWithSecrets,
  ConsoleLink,
  NewClient,
  NewOperatorKey,
  NewSecret,
  OperatorEndpoint,
  OperatorEndpointDetail,
  OperatorEndpointQuery,
  OperatorKey,
  OperatorSearchHit,
  RevokedKey,
  Role,
  Setting,
  Stats,
  StatsPeriod,
  VerifiedAudit,
} from '../wire/operator-types.ts'
import type { CursorPage, EndpointSettings, Page, Series, Statement } from '../wire/types.ts'

const CLIENTS = '/operator/v1/clients'
const ENDPOINTS = '/operator/v1/endpoints'
/** For a call that may move many thousands of deliveries. */
const LONG_MS = 120_000
const KEYS = '/operator/v1/keys'
const AUDIT = '/operator/v1/audit'

export type ClientCalls = ReturnType<typeof clientCalls>
export type AccountCalls = ReturnType<typeof accountCalls>
export type OperatorEndpointCalls = ReturnType<typeof operatorEndpointCalls>
export type KeyCalls = ReturnType<typeof keyCalls>
export type SigningKeyCalls = ReturnType<typeof signingKeyCalls>
export type AuditCalls = ReturnType<typeof auditCalls>
export type ServiceCalls = ReturnType<typeof serviceCalls>

export function clientCalls({ call, get }: Caller) {
  return {
    /** Its secret is in the answer, and never shown again. */
    create: (client: { name: string }, details?: CallOptions) =>
      call<NewClient>('POST', CLIENTS, { ...details, body: client }),
    list: (query: PageQuery = {}, details?: CallOptions) =>
      get<Page<ClientItem>>(CLIENTS, query, details),
    all: (details?: CallOptions) => pageItems<ClientItem>(get, CLIENTS, {}, details),
    get: (clientId: string, details?: CallOptions) =>
      get<ClientWithSecrets>(`${CLIENTS}/${segment(clientId)}`, undefined, details),
    /** The tokens of a disabled client stop working within 5 seconds. */
    setStatus: (clientId: string, status: ClientItem['status'], details?: CallOptions) =>
      call<ClientItem>('PATCH', `${CLIENTS}/${segment(clientId)}`, {
        ...details,
        body: { status },
        isSafe: true,
      }),
    /** Two may live at once, so that a client can rotate without a gap. */
    addSecret: (clientId: string, details?: CallOptions) =>
      call<NewSecret>('POST', `${CLIENTS}/${segment(clientId)}/secrets`, details),
    deleteSecret: (clientId: string, secretId: string, details?: CallOptions) =>
      call<void>('DELETE', `${CLIENTS}/${segment(clientId)}/secrets/${segment(secretId)}`, details),
    /** `keys`: its secrets get no token any more, only assertions that it signs with a key of its own. */
    setCredentials: (
      clientId: string,
      credentials: ClientItem['credentials'],
      details?: CallOptions,
    ) =>
      call<ClientItem>('PATCH', `${CLIENTS}/${segment(clientId)}`, {
        ...details,
        body: { credentials },
        isSafe: true,
      }),
    /** A public JWK: Ed25519, P-256 or RSA. With it the client gets tokens by `private_key_jwt`. At most 5. */
    addKey: (clientId: string, jwk: object, details?: CallOptions) =>
      call<ClientKey>('POST', `${CLIENTS}/${segment(clientId)}/keys`, {
        ...details,
        body: { jwk },
      }),
    listKeys: (clientId: string, query: PageQuery = {}, details?: CallOptions) =>
      get<Page<ClientKey>>(`${CLIENTS}/${segment(clientId)}/keys`, query, details),
    deleteKey: (clientId: string, kid: string, details?: CallOptions) =>
      call<void>('DELETE', `${CLIENTS}/${segment(clientId)}/keys/${segment(kid)}`, details),
    /** Signs a person in at the console as the client, once, within 15 minutes. */
    createConsoleLink: (clientId: string, details?: CallOptions) =>
      call<ConsoleLink>('POST', `${CLIENTS}/${segment(clientId)}/console-links`, details),
  }
}

export function accountCalls({ call, get }: Caller) {
  const path = (clientId: string) => `${CLIENTS}/${segment(clientId)}/accounts`
  return {
    create: (clientId: string, account: { name: string }, details?: CallOptions) =>
      call<Account>('POST', path(clientId), { ...details, body: account }),
    list: (clientId: string, query: PageQuery = {}, details?: CallOptions) =>
      get<Page<Account>>(path(clientId), query, details),
    all: (clientId: string, details?: CallOptions) =>
      pageItems<Account>(get, path(clientId), {}, details),
  }
}

export function operatorEndpointCalls({ call, get }: Caller) {
  return {
    list: (query: OperatorEndpointQuery = {}, details?: CallOptions) =>
      get<Page<OperatorEndpointDetail>>(ENDPOINTS, query, details),
    all: (query: OperatorEndpointQuery = {}, details?: CallOptions) =>
      pageItems<OperatorEndpointDetail>(get, ENDPOINTS, query, details),
    /** Also one that was deleted. */
    get: (id: string, details?: CallOptions) =>
      get<OperatorEndpointDetail>(`${ENDPOINTS}/${segment(id)}`, undefined, details),
    /** Attempts hour by hour, over a day or a week. */
    series: (id: string, query: { window?: 'day' | 'week' } = {}, details?: CallOptions) =>
      get<Series>(`${ENDPOINTS}/${segment(id)}/series`, query, details),
    /** What it had to get and got, hour by hour, signed. Whole hours, at most 31 days; of deleted endpoints too. */
    statement: (id: string, { from, to }: Window, details?: CallOptions) =>
      get<Statement>(
        `${ENDPOINTS}/${segment(id)}/statement`,
        { from, to },
        { timeoutMs: LONG_MS, ...details },
      ),
    /** `PAUSED` keeps what is owed; `ACTIVE` lets it go out, in order. */
    setStatus: (id: string, status: 'ACTIVE' | 'PAUSED', details?: CallOptions) =>
      call<OperatorEndpoint>('PATCH', `${ENDPOINTS}/${segment(id)}`, {
        ...details,
        body: { status },
        isSafe: true,
      }),
    /** What it gets, and how, from now on. What is left out stays as it is. */
    change: (id: string, settings: EndpointSettings, details?: CallOptions) =>
      call<OperatorEndpoint>('PATCH', `${ENDPOINTS}/${segment(id)}`, {
        ...details,
        body: settings,
        isSafe: true,
      }),
    /** Everything that is pending for it is due now, in order: for a receiver that works again. */
    retry: (id: string, details?: CallOptions) =>
      call<{ retried: number }>('POST', `${ENDPOINTS}/${segment(id)}/retry`, {
        timeoutMs: LONG_MS,
        ...details,
        isSafe: true,
      }),
  }
}

export function keyCalls({ call, get }: Caller) {
  return {
    /** The key is in the answer, and never shown again. */
    create: (key: { name: string; role: Role }, details?: CallOptions) =>
      call<NewOperatorKey>('POST', KEYS, { ...details, body: key }),
    /** Oldest first, revoked ones too. */
    list: (query: PageQuery = {}, details?: CallOptions) =>
      get<Page<OperatorKey>>(KEYS, query, details),
    all: (details?: CallOptions) => pageItems<OperatorKey>(get, KEYS, {}, details),
    /** It stops working within 5 seconds, and stays in the list. */
    revoke: (id: string, details?: CallOptions) =>
      call<void>('DELETE', `${KEYS}/${segment(id)}`, details),
  }
}

export function signingKeyCalls({ call }: Caller, path: 'signing-keys' | 'webhook-keys') {
  return {
    /**
     * For a key that may have leaked: it is trusted and published no more within 5 seconds, nor is anything that it has
     * signed. If it is the key that signs, `newKid` does from now on.
     */
    revoke: (kid: string, details?: CallOptions) =>
      call<RevokedKey>('POST', `/operator/v1/${path}/${segment(kid)}/revoke`, details),
  }
}

export function auditCalls({ call, get, stream }: Caller) {
  return {
    /** Who did what, newest first. */
    list: (query: AuditQuery = {}, details?: CallOptions) =>
      get<CursorPage<AuditItem>>(AUDIT, query, details),
    all: (query: AuditQuery = {}, details?: CallOptions) =>
      cursorItems<AuditItem>(get, AUDIT, query, details),
    /** The newest seal. Keep it elsewhere: it proves all that was sealed before it. */
    head: (details?: CallOptions) => get<AuditHead>(`${AUDIT}/head`, undefined, details),
    /** NDJSON: the rows of a segment, then the segment. `paybell audit verify` checks it. */
    export: async (
      query: { from?: string | Date; to?: string | Date } = {},
      details?: CallOptions,
    ): Promise<ReadableStream<Uint8Array>> => {
      const headers = { accept: '*/*' }
      const { body } = await stream(`${AUDIT}/export`, { ...details, headers, query })
      return body ?? new Blob([]).stream()
    },
    /** The service checks its own database, a portion at a time: go on with `next` until it is null. */
    verify: (after = 0, details?: CallOptions) =>
      call<VerifiedAudit>('POST', `${AUDIT}/verify`, {
        timeoutMs: LONG_MS,
        ...details,
        body: { after },
        isSafe: true,
      }),
  }
}

export function serviceCalls({ get }: Caller) {
  return {
    /** Of a secret only whether it is set. */
    settings: async (details?: CallOptions) =>
      (await get<{ settings: Setting[] }>('/operator/v1/settings', undefined, details)).settings,
    /** The cell that answers; at the address of `paybell route`, all of them. */
    cells: async (details?: CallOptions) =>
      (await get<{ items: CellItem[] }>('/operator/v1/cells', undefined, details)).items,
    /** Any id, external id, client name or address. */
    search: async (q: string, details?: CallOptions) =>
      (await get<{ items: OperatorSearchHit[] }>('/operator/v1/search', { q }, details)).items,
    stats: (query: { window?: StatsPeriod | undefined } = {}, details?: CallOptions) =>
      get<Stats>('/operator/v1/stats', query, details),
  }
}
