// `paybell clients keys …`: the public keys with which a client proves who it is, and whether its secrets still count.

import { createPublicKey } from 'node:crypto'
import type { Command } from 'commander'
import type { ClientItem, ClientKey } from '../../sdk/src/internal/operator-types.ts'
import type { Api } from '../basics/api.ts'
import { type Call, calling, family, operatorCommand } from '../basics/command.ts'
import { readGivenText } from '../basics/given-file.ts'
import { type PageOptions, showPage, withPage } from '../basics/lists.ts'
import { id, oneOf } from '../basics/parse.ts'
import { UsageError } from '../basics/run.ts'
import { formatTime, safe } from '../basics/terminal.ts'

const PATH = '/operator/v1/clients'
const CLIENT = '01a1dd3c-57d6-7001-9e6f-60de241483ec'
const CREDENTIALS: readonly ClientItem['credentials'][] = ['any', 'keys']

export function clientKeysCommand(): Command {
  return family('keys', 'Public keys that get a client its tokens, instead of a secret.', [
    add(),
    list(),
    remove(),
    accept(),
  ])
}

function add(): Command {
  return operatorCommand('add', 'Add a public key: Ed25519, P-256 or RSA, as PEM or JWK.', [
    `paybell clients keys add ${CLIENT} client-public.pem`,
    `paybell clients keys add ${CLIENT} public.jwk`,
  ])
    .argument('<client>', 'id of the client', id)
    .argument('<file>', 'file with the public key, as PEM or JWK')
    .action(
      calling(async (call: Call, clientId: string, file: string) => {
        const api = await call.operator()
        const answer = await api.post(`${PATH}/${clientId}/keys`, {
          jwk: await readPublicKey(file),
        })
        call.answer<ClientKey>(answer, ({ kid, alg }) => {
          call.fields([
            ['Key id', kid],
            ['Algorithm', alg],
          ])
        })
      }),
    )
}

async function readPublicKey(file: string): Promise<unknown> {
  const text = await readGivenText(file)
  // The service would refuse it, and has no business to see it.
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    throw new UsageError(
      `${file} holds a private key, which stays with the client. Its public part: openssl pkey -in ${file} -pubout`,
    )
  }
  return text.includes('-----BEGIN ') ? readPem(file, text) : readJwk(file, text)
}

function readPem(file: string, text: string): unknown {
  try {
    return createPublicKey(text).export({ format: 'jwk' })
  } catch {
    throw new UsageError(
      `${file} holds no public key that can be used here: it must be Ed25519, P-256 or RSA.`,
    )
  }
}

function readJwk(file: string, text: string): unknown {
  let jwk: unknown
  try {
    jwk = JSON.parse(text)
  } catch {
    throw new UsageError(
      `${file} is neither PEM nor a JWK: it has no line such as "-----BEGIN PUBLIC KEY-----", and is not JSON.`,
    )
  }
  if (typeof jwk === 'object' && jwk !== null && 'd' in jwk) {
    throw new UsageError(
      `${file} holds a private key (its member d), which stays with the client: add its public part.`,
    )
  }
  return jwk
}

function list(): Command {
  return withPage(
    operatorCommand('list', 'List the public keys of a client.', [
      `paybell clients keys list ${CLIENT}`,
    ]).argument('<client>', 'id of the client', id),
  ).action(
    calling(async (call: Call<PageOptions>, clientId: string) => {
      const { page, size } = call.options
      const answer = await (await call.operator()).get(`${PATH}/${clientId}/keys`, { page, size })
      showPage<ClientKey>(
        call,
        answer,
        [
          { title: 'KEY', of: ({ kid }) => kid },
          { title: 'ALGORITHM', of: ({ alg }) => alg },
          { title: 'CREATED', of: ({ createdAt }) => formatTime(createdAt) },
        ],
        'The client has no keys: it gets its tokens with a secret.',
      )
    }),
  )
}

function remove(): Command {
  return operatorCommand('delete', 'Delete a public key of a client.', [
    `paybell clients keys delete ${CLIENT} payments-2026`,
  ])
    .argument('<client>', 'id of the client', id)
    .argument('<kid>', 'id of the key')
    .action(
      calling(async (call: Call, clientId: string, kid: string) => {
        const path = `${PATH}/${clientId}/keys/${encodeURIComponent(kid)}`
        const api = await call.operator()
        await api.call('DELETE', path)
        if (call.isJson) call.print(JSON.stringify({ deleted: kid }))
        else call.print(`The key ${kid} is deleted.`)
        const client = (await api.get(`${PATH}/${clientId}`)).json<ClientItem>()
        await noteWithoutKey(call, api, client)
      }),
    )
}

function accept(): Command {
  return operatorCommand('accept', 'Choose what gets the client a token: any, or its keys only.', [
    `paybell clients keys accept ${CLIENT} keys`,
  ])
    .argument('<client>', 'id of the client', id)
    .argument('<credentials>', 'any, or keys', oneOf(CREDENTIALS))
    .action(
      calling(async (call: Call, clientId: string, credentials: string) => {
        const api = await call.operator()
        const answer = await api.call('PATCH', `${PATH}/${clientId}`, { body: { credentials } })
        call.answer<ClientItem>(answer, (client) => {
          call.print(
            client.credentials === 'keys'
              ? `${client.name} gets tokens with its keys only.`
              : `${client.name} gets tokens with its secrets and its keys.`,
          )
        })
        await noteWithoutKey(call, api, answer.json<ClientItem>())
      }),
    )
}

/** Allowed, because the secrets may have to end first: but then nothing gets the client a token. */
async function noteWithoutKey(call: Call, api: Api, { clientId, name, credentials }: ClientItem) {
  if (credentials !== 'keys') return
  const page = await api.get(`${PATH}/${clientId}/keys`, { size: 1 })
  if (page.json<{ totalElements: number }>().totalElements > 0) return
  call.note(
    `${safe(name)} has no key, and its secrets are refused: it gets no token until you add one (paybell clients keys add), or accept any again.`,
  )
}
