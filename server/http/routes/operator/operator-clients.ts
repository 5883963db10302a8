// /operator/v1/clients: onboarding. Secrets are shown once, in the answer that makes them; lists and items
// only show that they exist.

import { toPageRequest } from '../../../core/asking/numbered-pages.ts'
import { createConsoleLink } from '../../../operations/access/create-console-link.ts'
import { issueClientSecret } from '../../../operations/access/issue-client-secret.ts'
import { revokeClientSecret } from '../../../operations/access/revoke-client-secret.ts'
import {
  CLIENT_CREDENTIALS,
  CLIENT_STATUSES,
  changeClient,
} from '../../../operations/clients/change-client.ts'
import { onboardClient } from '../../../operations/clients/onboard-client.ts'
import { openAccount } from '../../../operations/clients/open-account.ts'
import { AccountLists } from '../../../operations/clients/view-accounts.ts'
import { CLIENT_ORDERS, viewClient, viewClients } from '../../../operations/clients/view-clients.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { auditOf } from '../../answers/audit.ts'
import { Instant, SearchText, Uuid } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { invalidFields } from '../../basics/validation.ts'
import { ABOUT_CLIENT, answer, forOperators } from '../../schemas/calls.ts'
import { PageQuery, pagesOf, toPageBody } from '../../schemas/page.ts'
import { EMPTY_BODY, IdParams, readId } from '../../schemas/schemas.ts'

const Named = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200, format: 'text' }),
  },
  { examples: [{ name: 'Northwind Traders' }] },
)

const ClientCredentialsSchema = Type.Enum([...CLIENT_CREDENTIALS], {
  description: 'What gets it a token: its secrets and its keys (`any`), or its `keys` alone.',
})

const ClientChangeBody = Type.Object(
  {
    status: Type.Optional(Type.Enum([...CLIENT_STATUSES])),
    credentials: Type.Optional(ClientCredentialsSchema),
  },
  {
    examples: [{ status: 'DISABLED' }, { credentials: 'keys' }],
    published: { anyOf: [{ required: ['status'] }, { required: ['credentials'] }] },
  },
)

export const NewClient = Type.Object({
  clientId: Uuid,
  clientSecret: Type.String({ description: 'Shown now and never again.' }),
  name: Type.String(),
})

export const ClientItem = Type.Object({
  clientId: Uuid,
  name: Type.String(),
  status: Type.Enum([...CLIENT_STATUSES]),
  credentials: ClientCredentialsSchema,
  createdAt: Instant,
})

export const ClientWithSecrets = Type.Object({
  ...ClientItem.properties,
  secrets: Type.Array(Type.Object({ secretId: Uuid, createdAt: Instant })),
})

export const NewSecret = Type.Object({
  secretId: Uuid,
  clientSecret: Type.String({ description: 'Shown now and never again.' }),
})

export const ConsoleLink = Type.Object(
  {
    url: Type.String({ format: 'uri', description: 'Shown now and never again.' }),
    expiresAt: Instant,
  },
  {
    examples: [
      {
        url: 'https://paybell.example.com/console/sign-in#q3ZxJ0b1rXW8mE0n4sHk2dVtYpL6uAcGf9iR7wTeBoM',
        expiresAt: '2026-03-02T09:45:00.400Z',
      },
    ],
  },
)

export const AccountItem = Type.Object({ id: Uuid, name: Type.String() })

const ClientListQuery = Type.Object({
  ...PageQuery.properties,
  q: Type.Optional(
    Type.String({
      ...SearchText,
      description: 'Words of its name, each perhaps only begun; or its id.',
    }),
  ),
  sort: Type.Optional(
    Type.Enum([...CLIENT_ORDERS], {
      default: 'createdAt',
      description: 'What they are sorted by; with a minus, the other way round.',
    }),
  ),
})

const SecretParams = Type.Object({ id: Type.String(), secretId: Type.String() })

export interface ClientRoutesDeps extends Deps {
  /** The public address, where clients sign in. */
  baseUrl(): string
}

export function operatorClientRoutes(deps: ClientRoutesDeps): Routes {
  const accountLists = new AccountLists(deps)
  return (app) => {
    app.route({
      method: 'POST',
      url: '/clients',
      ...forOperators('admin', {
        operationId: 'createClient',
        summary: 'Onboard a client',
        description:
          'The secret is shown in this answer and never again. Open an account for the client next.',
        body: Named,
        answers: { 201: answer('The client and its first secret.', NewClient) },
      }),
      handler: async (request, reply) => {
        const { client, secret } = await onboardClient(
          deps,
          request.body.name,
          auditOf(deps, request, 'client.create'),
        )
        reply.code(201).header('location', `/operator/v1/clients/${client.id}`)
        return { clientId: client.id, clientSecret: secret, name: client.name }
      },
    })

    app.route({
      method: 'GET',
      url: '/clients',
      ...forOperators('viewer', {
        operationId: 'listClients',
        summary: 'List clients',
        description: 'The oldest first, unless `sort` says otherwise.',
        ...pagesOf(ClientItem),
        querystring: ClientListQuery,
      }),
      handler: async (request) => {
        const { q, sort, ...page } = request.query
        const filter = { search: q ?? null, order: sort ?? 'createdAt' }
        return toPageBody(await viewClients(deps, filter, toPageRequest(page)), toClientItem)
      },
    })

    app.route({
      method: 'GET',
      url: '/clients/:id',
      ...forOperators('viewer', {
        operationId: 'getClient',
        summary: 'See one client',
        description:
          'With the ids of its secrets and when they were made: never the secrets themselves.',
        params: IdParams,
        answers: { 200: answer('The client.', ClientWithSecrets) },
        problems: ABOUT_CLIENT,
      }),
      handler: async (request) => {
        const { client, secrets } = await viewClient(deps, readId(request.params.id))
        return { ...toClientItem(client), secrets: secrets.map(toSecretItem) }
      },
    })

    app.route({
      method: 'PATCH',
      url: '/clients/:id',
      ...forOperators('admin', {
        operationId: 'changeClient',
        summary: 'Disable or enable a client, or choose what gets it a token',
        description:
          'The tokens of a disabled client stop working within 5 seconds. With `credentials: keys` its secrets get no token any more.',
        params: IdParams,
        body: ClientChangeBody,
        answers: { 200: answer('The client as it is now.', ClientItem) },
        problems: ABOUT_CLIENT,
      }),
      handler: async (request) => {
        const { status, credentials } = request.body
        if (status === undefined && credentials === undefined) {
          const detail = 'Give the status, or the credentials.'
          throw invalidFields([{ pointer: '/status', code: 'missing', detail }])
        }
        const audit = auditOf(deps, request, ACTIONS[status ?? 'none'])
        const id = readId(request.params.id)
        return toClientItem(await changeClient(deps, id, request.body, audit))
      },
    })

    app.route({
      method: 'POST',
      url: '/clients/:id/secrets',
      ...forOperators('admin', {
        operationId: 'createClientSecret',
        summary: 'Issue another secret',
        description: 'Two secrets may live at once, so that a client can rotate without a gap.',
        params: IdParams,
        answers: { 201: answer('The secret, shown this once.', NewSecret) },
        problems: [...ABOUT_CLIENT, 'too-many-secrets'],
      }),
      handler: async (request, reply) => {
        const audit = auditOf(deps, request, 'secret.create')
        const issued = await issueClientSecret(deps, readId(request.params.id), audit)
        reply.code(201)
        return { secretId: issued.secretId, clientSecret: issued.secret }
      },
    })

    app.route({
      method: 'DELETE',
      url: '/clients/:id/secrets/:secretId',
      ...forOperators('admin', {
        operationId: 'deleteClientSecret',
        summary: 'Revoke a secret',
        description:
          'It gets no token any more. Tokens that it got before stay good until they expire.',
        params: SecretParams,
        answers: { 204: answer('Revoked.', EMPTY_BODY) },
        problems: ABOUT_CLIENT,
      }),
      handler: async (request, reply) => {
        const { id, secretId } = request.params
        const audit = auditOf(deps, request, 'secret.revoke')
        await revokeClientSecret(deps, readId(id), readId(secretId), audit)
        return reply.code(204).send(undefined)
      },
    })

    app.route({
      method: 'POST',
      url: '/clients/:id/console-links',
      ...forOperators('admin', {
        operationId: 'createConsoleLink',
        summary: 'Make a link that signs a person in at the console as the client',
        description:
          'It works once, within 15 minutes. The session lasts 12 hours at most and ends when the client is disabled. Anyone who has the link can use it: hand it over as you would a password.',
        params: IdParams,
        answers: { 201: answer('The link, and when it expires.', ConsoleLink) },
        problems: [...ABOUT_CLIENT, 'client-disabled'],
      }),
      handler: async (request, reply) => {
        const audit = auditOf(deps, request, 'console-link.create')
        const link = await createConsoleLink(deps, readId(request.params.id), audit)
        reply.code(201).header('cache-control', 'no-store')
        // After the #, where it reaches no server's log.
        const url = `${deps.baseUrl()}/console/sign-in#${link.token}`
        return { url, expiresAt: link.expiresAt.toISOString() }
      },
    })

    app.route({
      method: 'POST',
      url: '/clients/:id/accounts',
      ...forOperators('admin', {
        operationId: 'createAccount',
        summary: 'Open an account',
        description: 'Payments belong to accounts, and webhooks get the payments of one account.',
        params: IdParams,
        body: Named,
        answers: { 201: answer('The account.', AccountItem) },
        problems: ABOUT_CLIENT,
      }),
      handler: async (request, reply) => {
        const account = await openAccount(
          deps,
          readId(request.params.id),
          request.body.name,
          auditOf(deps, request, 'account.create'),
        )
        reply.code(201)
        return account
      },
    })

    app.route({
      method: 'GET',
      url: '/clients/:id/accounts',
      ...forOperators('viewer', {
        operationId: 'listAccounts',
        summary: "List a client's accounts",
        description:
          'All accounts of one client, in the order in which they were created. `totalElements` above 100,000 may be 30 seconds old.',
        params: IdParams,
        ...pagesOf(AccountItem),
        problems: ABOUT_CLIENT,
      }),
      handler: async (request) => {
        const page = toPageRequest(request.query)
        const accounts = await accountLists.view(readId(request.params.id), page)
        return toPageBody(accounts, (account) => account)
      },
    })
  }
}

const ACTIONS = {
  ACTIVE: 'client.enable',
  DISABLED: 'client.disable',
  none: 'client.change',
} as const

function toClientItem(client: {
  id: string
  name: string
  status: 'ACTIVE' | 'DISABLED'
  credentials: 'any' | 'keys'
  createdAt: Date
}) {
  return {
    clientId: client.id,
    name: client.name,
    status: client.status,
    credentials: client.credentials,
    createdAt: client.createdAt.toISOString(),
  }
}

function toSecretItem(secret: { id: string; createdAt: Date }) {
  return { secretId: secret.id, createdAt: secret.createdAt.toISOString() }
}
