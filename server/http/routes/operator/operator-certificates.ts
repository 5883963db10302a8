// /operator/v1/client-certificates: what the service shows to receivers that ask who calls, and for which clients. A private
// key goes in or is made inside, and never comes out.

import { toPageRequest } from '../../../core/asking/numbered-pages.ts'
import { CHAIN_CHARACTERS_MAX } from '../../../core/certificates/certificate-chain.ts'
import {
  CERTIFICATE_CLIENTS_MAX,
  EVERYONE,
} from '../../../core/certificates/certificate-clients.ts'
import type { NamedClients } from '../../../operations/certificates/certificate-owners.ts'
import { changeCertificate } from '../../../operations/certificates/change-certificate.ts'
import {
  type CertificateOffer,
  completeCertificate,
  makeCertificate,
} from '../../../operations/certificates/make-certificate.ts'
import {
  makeDefault,
  removeCertificate,
  replaceByOther,
} from '../../../operations/certificates/replace-certificate.ts'
import {
  type ViewedCertificate,
  viewCertificate,
  viewCertificates,
} from '../../../operations/certificates/view-certificates.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { auditOf } from '../../answers/audit.ts'
import { DRY_RUN_MEANING, DryRun, DryRunQuery, isDryRun } from '../../basics/dry-run.ts'
import { Instant, InstantOrNull, TextOrNull, Uuid } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { invalidFields } from '../../basics/validation.ts'
import { answer, forOperators } from '../../schemas/calls.ts'
import { pagesOf, toPageBody } from '../../schemas/page.ts'
import { EMPTY_BODY, IdParams, readId } from '../../schemas/schemas.ts'

const Pem = (description: string) =>
  Type.String({ minLength: 1, maxLength: CHAIN_CHARACTERS_MAX, description })

const Name = Type.String({ minLength: 1, maxLength: 100, format: 'text' })
const ABOUT_CLIENTS =
  'Which clients may use and see it, by their ids, or `everyone`. Others have no such certificate, for callbacks and token endpoints alike.'
const Clients = Type.Unsafe<string[] | typeof EVERYONE>({
  type: ['array', 'string'],
  format: EVERYONE,
  items: Uuid,
  maxItems: CERTIFICATE_CLIENTS_MAX,
  uniqueItems: true,
  description: ABOUT_CLIENTS,
})

const CertificateRequest = Type.Object(
  {
    name: Name,
    clients: Type.Optional(
      Type.Unsafe<string[] | typeof EVERYONE>({
        ...Clients,
        description: `${ABOUT_CLIENTS} Without it, for no one yet.`,
      }),
    ),
    certificatePem: Type.Optional(
      Pem('The service’s own certificate, then each one that signed the one before.'),
    ),
    privateKeyPem: Type.Optional(Pem('The key that belongs to it, not encrypted.')),
    subject: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description:
          'In place of both: the key is made inside, and the answer has a request for an authority to sign.',
      }),
    ),
  },
  { examples: [{ name: 'pix-2027', subject: 'CN=paybell.example.com, O=Example Ltd, C=BR' }] },
)

const Change = Type.Object(
  { name: Type.Optional(Name), clients: Type.Optional(Clients) },
  {
    examples: [{ clients: ['019cade5-69f0-7d0c-8f6e-2b7b3a4c5d6e'] }, { clients: EVERYONE }],
    published: { anyOf: [{ required: ['name'] }, { required: ['clients'] }] },
  },
)

const Completion = Type.Object(
  { certificatePem: Pem('What the authority has signed, with its chain.') },
  { examples: [{ certificatePem: '-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n' }] },
)

const Replacement = Type.Object(
  { by: Uuid, dryRun: DryRun },
  { examples: [{ by: '019cade5-69f0-7d0c-8f6e-2b7b3a4c5d6e', dryRun: true }] },
)
const DefaultBody = Type.Object({ dryRun: DryRun }, { examples: [{ dryRun: true }] })

export const CertificateItem = Type.Object({
  id: Uuid,
  name: Type.String(),
  clients: Type.Union([Type.Literal(EVERYONE), Type.Array(Uuid)], { description: ABOUT_CLIENTS }),
  subject: Type.String(),
  fingerprintSha256: TextOrNull('Of the certificate, in hexadecimal. Null until it is signed.'),
  notBefore: InstantOrNull(),
  notAfter: InstantOrNull(),
  usedBy: Type.Integer({ description: 'Endpoints whose receivers are shown it.' }),
  isDefault: Type.Boolean({
    description: 'Endpoints of these clients that ask for `default` are shown it.',
  }),
  createdAt: Instant,
  certificatePem: TextOrNull('The chain, the service’s own certificate first.'),
  certificateRequestPem: TextOrNull('For an authority to sign. Null where the key was imported.'),
})

export const FollowingEndpoints = Type.Object({
  endpoints: Type.Integer({ description: 'How many endpoints follow.' }),
})

export function operatorCertificateRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'POST',
      url: '/client-certificates',
      ...forOperators('admin', {
        operationId: 'createClientCertificate',
        summary: 'Import a certificate, or ask for one',
        description:
          'With `certificatePem` and `privateKeyPem` it is imported. With `subject` the key is made inside, and `certificateRequestPem` is for an authority to sign. It is for the `clients` that you name, and for no one without them. The first that is whole and for everyone is the default.',
        body: CertificateRequest,
        answers: { 201: answer('The certificate, without its key.', CertificateItem) },
        problems: ['certificate-name-taken', 'too-many-certificates', 'overloaded'],
      }),
      handler: async (request, reply) => {
        const audit = auditOf(deps, request, 'client-certificate.create')
        const made = await makeCertificate(deps, readOffer(request.body), audit)
        reply.code(201).header('location', `/operator/v1/client-certificates/${made.id}`)
        return toCertificateItem(await viewCertificate(deps, made.id))
      },
    })

    app.route({
      method: 'GET',
      url: '/client-certificates',
      ...forOperators('viewer', {
        operationId: 'listClientCertificates',
        summary: 'List the service’s certificates',
        description: 'The oldest first, with how many endpoints are shown each.',
        ...pagesOf(CertificateItem),
      }),
      handler: async (request) =>
        toPageBody(await viewCertificates(deps, toPageRequest(request.query)), toCertificateItem),
    })

    app.route({
      method: 'GET',
      url: '/client-certificates/:id',
      ...forOperators('viewer', {
        operationId: 'getClientCertificate',
        summary: 'See a certificate',
        description: 'Everything but its private key.',
        params: IdParams,
        answers: { 200: answer('The certificate.', CertificateItem) },
      }),
      handler: async (request) =>
        toCertificateItem(await viewCertificate(deps, readId(request.params.id))),
    })

    app.route({
      method: 'PATCH',
      url: '/client-certificates/:id',
      ...forOperators('admin', {
        operationId: 'changeClientCertificate',
        summary: 'Say which clients may use a certificate, or rename it',
        description:
          'The list that you give replaces the one before, in every process within 5 seconds. It is not taken from a client whose endpoints are shown it.',
        params: IdParams,
        body: Change,
        answers: { 200: answer('The certificate, as it is now.', CertificateItem) },
        problems: ['certificate-name-taken', 'certificate-in-use', 'overloaded'],
      }),
      handler: async (request) => {
        const id = readId(request.params.id)
        if (Object.keys(request.body).length === 0) {
          const detail = 'Give clients, name, or both.'
          throw invalidFields([{ pointer: '/clients', code: 'missing', detail }])
        }
        const audit = auditOf(deps, request, 'client-certificate.change')
        await changeCertificate(deps, id, request.body, audit)
        return toCertificateItem(await viewCertificate(deps, id))
      },
    })

    app.route({
      method: 'PUT',
      url: '/client-certificates/:id/certificate',
      ...forOperators('admin', {
        operationId: 'completeClientCertificate',
        summary: 'Give what was signed',
        description:
          'Completes a request, or renews a certificate for the same key. New connections are shown it within 5 seconds in every process.',
        params: IdParams,
        body: Completion,
        answers: { 200: answer('The certificate, whole.', CertificateItem) },
      }),
      handler: async (request) => {
        const id = readId(request.params.id)
        const audit = auditOf(deps, request, 'client-certificate.complete')
        await completeCertificate(deps, id, request.body.certificatePem, audit)
        return toCertificateItem(await viewCertificate(deps, id))
      },
    })

    app.route({
      method: 'POST',
      url: '/client-certificates/:id/default',
      ...forOperators('admin', {
        operationId: 'setDefaultClientCertificate',
        summary: 'Make a certificate the default',
        description:
          'Endpoints that ask for `default` are shown it from now on, in every process within 5 seconds: those of the clients that it is for. While others of them are shown the default of now, that is a 400. A dry run says how many follow.',
        params: IdParams,
        querystring: DryRunQuery,
        body: DefaultBody,
        answers: { 200: answer(`How many follow. ${DRY_RUN_MEANING}`, FollowingEndpoints) },
      }),
      handler: async (request) => {
        const audit = auditOf(deps, request, 'client-certificate.default')
        const id = readId(request.params.id)
        return { endpoints: await makeDefault(deps, id, isDryRun(request), audit) }
      },
    })

    app.route({
      method: 'POST',
      url: '/client-certificates/:id/replace',
      ...forOperators('admin', {
        operationId: 'replaceClientCertificate',
        summary: 'Let endpoints follow to another certificate',
        description:
          'Every endpoint that names this one names the other from now on, which has to be for their clients. A dry run says how many they are.',
        params: IdParams,
        querystring: DryRunQuery,
        body: Replacement,
        answers: { 200: answer(`How many follow. ${DRY_RUN_MEANING}`, FollowingEndpoints) },
      }),
      handler: async (request) => {
        const audit = auditOf(deps, request, 'client-certificate.replace')
        const change = {
          id: readId(request.params.id),
          by: request.body.by,
          isDryRun: isDryRun(request),
        }
        return { endpoints: await replaceByOther(deps, change, audit) }
      },
    })

    app.route({
      method: 'DELETE',
      url: '/client-certificates/:id',
      ...forOperators('admin', {
        operationId: 'deleteClientCertificate',
        summary: 'Delete a certificate',
        description: 'With its key. One that endpoints are shown is not deleted.',
        params: IdParams,
        answers: { 204: answer('Deleted.', EMPTY_BODY) },
        problems: ['certificate-in-use'],
      }),
      handler: async (request, reply) => {
        const audit = auditOf(deps, request, 'client-certificate.delete')
        await removeCertificate(deps, readId(request.params.id), audit)
        return reply.code(204).send(undefined)
      },
    })
  }
}

function readOffer(body: {
  name: string
  certificatePem?: string
  privateKeyPem?: string
  subject?: string
  clients?: NamedClients
}): CertificateOffer {
  const { name, clients, certificatePem, privateKeyPem, subject } = body
  const isImport = certificatePem !== undefined && privateKeyPem !== undefined
  if (isImport && subject === undefined) return { name, clients, certificatePem, privateKeyPem }
  const isRequest = certificatePem === undefined && privateKeyPem === undefined
  if (isRequest && subject !== undefined) return { name, clients, subject }
  throw invalidFields([
    {
      pointer: subject === undefined ? '/certificatePem' : '/subject',
      code: 'contradictory',
      detail:
        'Give certificatePem and privateKeyPem to import a certificate, or subject to ask for one.',
    },
  ])
}

function toCertificateItem(certificate: ViewedCertificate) {
  const { chain } = certificate
  return {
    id: certificate.id,
    name: certificate.name,
    clients: certificate.clients === EVERYONE ? EVERYONE : [...certificate.clients],
    subject: certificate.subject,
    fingerprintSha256: chain?.fingerprint.toString('hex') ?? null,
    notBefore: chain?.notBefore.toISOString() ?? null,
    notAfter: chain?.notAfter.toISOString() ?? null,
    usedBy: certificate.usedBy,
    isDefault: certificate.isDefault,
    createdAt: certificate.createdAt.toISOString(),
    certificatePem: chain?.pem ?? null,
    certificateRequestPem: certificate.requestPem,
  }
}
