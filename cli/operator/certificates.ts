// `paybell certificates …`: what receivers are shown when they ask who calls, and for which clients. Files are given by their
// path; a private key goes in and never comes out.

import type { Command } from 'commander'
import type {
  FollowingEndpoints,
  ServiceCertificate,
} from '../../sdk/src/internal/operator-types.ts'
import type { PublicCertificate } from '../../sdk/src/wire/types.ts'
import { type Call, calling, family, operatorCommand, readerCommand } from '../basics/command.ts'
import { readPemFile } from '../basics/given-file.ts'
import { type PageOptions, showPage, withPage } from '../basics/lists.ts'
import { id } from '../basics/parse.ts'
import { formatTime, plural } from '../basics/terminal.ts'
import {
  type ChangeOptions,
  type ClientsOptions,
  forWhom,
  toChange,
  toClients,
  withClients,
} from './certificate-clients.ts'

const PATH = '/operator/v1/client-certificates'
const ID = '01a1dd3c-57d6-7001-9e6f-60de241483ec'
const OTHER = '01a1dd3c-57d6-7001-9e6f-60de241483ed'
const CLIENT = '01a1dd3c-57d6-7001-9e6f-60de241483ee'
const OTHER_CLIENT = '01a1dd3c-57d6-7001-9e6f-60de241483ef'

export function certificatesCommand(): Command {
  return family(
    'certificates',
    'The client certificates (mTLS) that receivers are shown when they ask who calls.',
    [
      ...[list(), show(), request(), importOne(), complete()],
      ...[change(), makeDefault(), replace(), remove()],
    ],
  )
}

function list(): Command {
  return withPage(
    readerCommand('list', 'List the certificates, and when they end.', [
      'paybell certificates list',
      "paybell certificates list --json | jq -r '.content[].certificatePem' > paybell.pem",
    ]),
  ).action(
    calling(async (call: Call<PageOptions>) => {
      const { page, size } = call.options
      const { api, isOperator } = await call.target.reader()
      const path = isOperator ? PATH : '/v1/client-certificates'
      const answer = await api.get(path, { page, size })
      showPage<PublicCertificate & Partial<ServiceCertificate>>(
        call,
        answer,
        [
          { title: 'CERTIFICATE', of: (one) => one.id },
          { title: 'ENDS', of: ({ notAfter }) => formatTime(notAfter) },
          { title: 'DEFAULT', of: ({ isDefault }) => (isDefault ? 'yes' : '-') },
          ...(isOperator
            ? [
                {
                  title: 'FOR',
                  of: ({ clients }: Partial<ServiceCertificate>) => forWhom(clients),
                },
                { title: 'USED BY', of: (one: Partial<ServiceCertificate>) => `${one.usedBy}` },
              ]
            : []),
          { title: 'NAME', of: ({ name }) => name },
        ],
        isOperator
          ? 'There are no certificates. Create one with: paybell certificates request NAME --subject SUBJECT'
          : 'You may use no certificate. Ask the operator for one.',
      )
    }),
  )
}

function show(): Command {
  return operatorCommand('show', 'Show a certificate: everything but its private key.', [
    `paybell certificates show ${ID}`,
    `paybell certificates show ${ID} --json | jq -r .certificateRequestPem > request.pem`,
  ])
    .argument('<certificate>', 'id of the certificate', id)
    .action(
      calling(async (call: Call, certificateId: string) => {
        const answer = await (await call.operator()).get(`${PATH}/${certificateId}`)
        call.answer<ServiceCertificate>(answer, (one) => showOne(call, one))
      }),
    )
}

function request(): Command {
  return withClients(
    operatorCommand(
      'request',
      'Request a certificate (CSR). Its private key never leaves Paybell.',
      [
        `paybell certificates request pix-2027 --subject "CN=paybell.example.com, O=Example Ltd, C=BR" --client ${CLIENT}`,
        'paybell certificates request pix-2027 --subject CN=paybell --json | jq -r .certificateRequestPem > request.pem',
      ],
    ),
  )
    .argument('<name>', 'a name of its own')
    .requiredOption('--subject <subject>', 'whom it is for, such as "CN=paybell.example.com, C=BR"')
    .action(
      calling(async (call: Call<ClientsOptions & { subject: string }>, name: string) => {
        const body = { name, subject: call.options.subject, ...toClients(call.options) }
        const answer = await (await call.operator()).post(PATH, body)
        call.answer<ServiceCertificate>(answer, (one) => {
          call.note(`Certificate ${one.id}. Have this request signed by the authority, and then:`)
          call.note(`paybell certificates complete ${one.id} --certificate-file signed.pem`)
          call.print((one.certificateRequestPem ?? '').trimEnd())
        })
      }),
    )
}

function importOne(): Command {
  return withClients(
    operatorCommand('import', 'Import a certificate with its private key.', [
      `paybell certificates import pix-2027 --certificate-file chain.pem --private-key-file key.pem --client ${CLIENT}`,
    ]),
  )
    .argument('<name>', 'a name of its own')
    .requiredOption('--certificate-file <file>', 'PEM: the certificate, then those that signed it')
    .requiredOption('--private-key-file <file>', 'PEM: its private key, without a passphrase')
    .action(
      calling(
        async (
          call: Call<ClientsOptions & { certificateFile: string; privateKeyFile: string }>,
          name: string,
        ) => {
          const certificatePem = readPemFile(call.options.certificateFile)
          const privateKeyPem = readPemFile(call.options.privateKeyFile)
          const api = await call.operator()
          const clients = toClients(call.options)
          const answer = await api.post(PATH, { name, certificatePem, privateKeyPem, ...clients })
          call.answer<ServiceCertificate>(answer, (one) => showOne(call, one))
        },
      ),
    )
}

function complete(): Command {
  return operatorCommand('complete', 'Give what the authority has signed, or has renewed.', [
    `paybell certificates complete ${ID} --certificate-file signed.pem`,
  ])
    .argument('<certificate>', 'id of the certificate', id)
    .requiredOption('--certificate-file <file>', 'PEM: the certificate, then those that signed it')
    .action(
      calling(async (call: Call<{ certificateFile: string }>, certificateId: string) => {
        const body = { certificatePem: readPemFile(call.options.certificateFile) }
        const api = await call.operator()
        const answer = await api.call('PUT', `${PATH}/${certificateId}/certificate`, { body })
        call.answer<ServiceCertificate>(answer, (one) => showOne(call, one))
      }),
    )
}

function change(): Command {
  return withClients(
    operatorCommand('change', 'Say which clients may use a certificate, or rename it.', [
      `paybell certificates change ${ID} --client ${CLIENT} --client ${OTHER_CLIENT}`,
      `paybell certificates change ${ID} --everyone`,
    ]),
  )
    .option('--none', 'no client may use it any more')
    .option('--name <name>', 'another name')
    .argument('<certificate>', 'id of the certificate', id)
    .action(
      calling(async (call: Call<ChangeOptions>, certificateId: string) => {
        const body = toChange(call.options)
        const api = await call.operator()
        const answer = await api.call('PATCH', `${PATH}/${certificateId}`, { body })
        call.answer<ServiceCertificate>(answer, (one) => showOne(call, one))
      }),
    )
}

interface FollowOptions {
  dryRun?: boolean
  yes?: boolean
}

function withFollowing(command: Command): Command {
  return command
    .option('--dry-run', 'only count the endpoints that would follow')
    .option('--yes', 'do not ask for confirmation')
}

function makeDefault(): Command {
  return withFollowing(
    operatorCommand('default', 'Make it the one that endpoints mean by "default".', [
      `paybell certificates default ${ID} --dry-run`,
      `paybell certificates default ${ID} --yes`,
    ]),
  )
    .argument('<certificate>', 'id of the certificate', id)
    .action(
      calling((call: Call<FollowOptions>, certificateId: string) =>
        follow(call, `${PATH}/${certificateId}/default`, {}, certificateId),
      ),
    )
}

function replace(): Command {
  return withFollowing(
    operatorCommand('replace', 'Let the endpoints that name it name another one.', [
      `paybell certificates replace ${ID} --by ${OTHER} --dry-run`,
      `paybell certificates replace ${ID} --by ${OTHER} --yes`,
    ]),
  )
    .argument('<certificate>', 'id of the certificate', id)
    .requiredOption('--by <certificate>', 'id of the other one', id)
    .action(
      calling((call: Call<FollowOptions & { by: string }>, certificateId: string) => {
        const { by } = call.options
        return follow(call, `${PATH}/${certificateId}/replace`, { by }, by)
      }),
    )
}

/** A count first, and a question where a person is there to answer. */
async function follow(
  call: Call<FollowOptions>,
  path: string,
  body: object,
  to: string,
): Promise<void> {
  const api = await call.operator()
  const trial = await api.post(path, { ...body, dryRun: true })
  const { endpoints } = trial.json<FollowingEndpoints>()
  if (call.options.dryRun) {
    if (call.isJson) call.print(JSON.stringify({ endpoints, dryRun: true }))
    else call.print(`${plural(endpoints, 'endpoint')} would be shown the certificate ${to}.`)
    return
  }
  const question = `Show ${plural(endpoints, 'endpoint')} the certificate ${to}?`
  await call.confirm(question)
  call.answer<FollowingEndpoints>(await api.post(path, { ...body, dryRun: false }), (done) => {
    call.print(
      `${plural(done.endpoints, 'endpoint')}: shown the certificate ${to} within 5 seconds.`,
    )
  })
}

function remove(): Command {
  return operatorCommand(
    'delete',
    'Delete a certificate with its key, if no endpoint is shown it.',
    [`paybell certificates delete ${ID}`],
  )
    .argument('<certificate>', 'id of the certificate', id)
    .action(
      calling(async (call: Call, certificateId: string) => {
        await (await call.operator()).call('DELETE', `${PATH}/${certificateId}`)
        if (call.isJson) call.print(JSON.stringify({ deleted: certificateId }))
        else call.print(`The certificate ${certificateId} is deleted.`)
      }),
    )
}

function showOne(call: Call, one: ServiceCertificate): void {
  call.fields([
    ['Certificate', one.id],
    ['Name', one.name],
    ['Subject', one.subject],
    ['SHA-256', one.fingerprintSha256 ?? 'not signed yet'],
    ['Begins', formatTime(one.notBefore)],
    ['Ends', formatTime(one.notAfter)],
    ['For', one.clients === 'everyone' ? 'everyone' : one.clients.join(', ') || 'no client'],
    ['Default', one.isDefault ? 'yes' : 'no'],
    ['Used by', plural(one.usedBy, 'endpoint')],
  ])
}
