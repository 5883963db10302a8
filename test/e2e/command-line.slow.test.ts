// The commands of the command line against one running service, as scripts call them: what they print,
// where, and how they end.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { callCommand } from '../support/called-command.ts'
import { runCommand, startCommand } from '../support/command-line.ts'
import { assertDemo } from '../support/demo.ts'
import { issue } from '../support/issue-certificate.ts'
import { makeSandboxFile, startPaybell, until, untilAllAre } from '../support/paybell.ts'
import { SAMPLE } from '../support/payment-sample.ts'
import { type Received, startReceiver } from '../support/receiver.ts'

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url))
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const dir = await mkdtemp(join(tmpdir(), 'paybell-cli-'))
after(() => rm(dir, { recursive: true, force: true }))
const receiver = await startReceiver({ after })
const paybell = await startPaybell({ after })
const env = {
  PAYBELL_URL: paybell.baseUrl,
  PAYBELL_OPERATOR_KEY: paybell.operatorKey,
  PAYBELL_CLIENT_ID: paybell.clientId,
  PAYBELL_CLIENT_SECRET: paybell.clientSecret,
  PAYBELL_ACCOUNT_ID: paybell.accountId,
  PAYBELL_DATA_DIR: dir,
}

const paybellJson = async (...args: string[]) => {
  const { code, stdout, stderr } = await callCommand([...args, '--json'], { env })
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}
const run = (...args: string[]) => callCommand(args, { env })

test('clients are taken on, listed, disabled, enabled, and get new secrets', async () => {
  const made = await paybellJson('clients', 'create', 'Acme', '--account', 'Main')
  assert.match(made.clientId, UUID)
  assert.match(made.account.id, UUID)
  const list = await run('clients', 'list')
  assert.match(list.stdout, /^CLIENT +STATUS +CREATED +NAME$/m)
  assert.match(list.stdout, new RegExp(`^${made.clientId} +ACTIVE .* Acme$`, 'm'))
  assert.equal((await run('clients', 'disable', made.clientId)).stdout, 'Acme is DISABLED.\n')
  assert.equal((await run('clients', 'enable', made.clientId)).stdout, 'Acme is ACTIVE.\n')

  const second = await paybellJson('clients', 'rotate', made.clientId)
  assert.deepEqual(second.revoked, [])
  const full = await run('clients', 'rotate', made.clientId)
  assert.equal(full.code, 1)
  assert.match(full.stderr, /^paybell: .* \(409 too-many-secrets\)\n .*\n {2}request .+\n$/m)
  const shown = await paybellJson('clients', 'show', made.clientId)
  assert.equal(shown.secrets.length, 2)
  await paybellJson('clients', 'rotate', made.clientId, '--revoke', shown.secrets[0].secretId)
  const third = await paybellJson('clients', 'rotate', made.clientId, '--revoke-old')
  assert.equal(third.revoked.length, 1)
  assert.equal((await paybellJson('clients', 'show', made.clientId)).secrets.length, 1)

  const account = await paybellJson('accounts', 'create', made.clientId, 'Second')
  const accounts = await run('accounts', 'list', made.clientId)
  assert.match(accounts.stdout, new RegExp(`^${account.id} +Second$`, 'm'))
})

test('a key of the service that leaked is revoked by its id', async () => {
  for (const [family, file] of [
    ['signing-keys', 'jwks.json'],
    ['webhook-keys', 'webhook-keys.json'],
  ] as const) {
    const answer = await fetch(`${paybell.baseUrl}/.well-known/${file}`)
    const [{ kid }] = ((await answer.json()) as { keys: [{ kid: string }] }).keys
    const revoked = await run(family, 'revoke', kid, '--yes')
    assert.match(
      revoked.stdout,
      new RegExp(`^The key ${kid} is revoked.*\nKey .* signs from now on.\n$`),
    )
    assert.match((await run(family, 'revoke', kid)).stderr, /cannot be undone.*add --yes/)
    const again = await run(family, 'revoke', kid, '--yes')
    assert.equal(again.code, 1)
    assert.match(again.stderr, /404 not-found/)
    assert.equal((await run(family, 'revoke', 'no-id')).code, 2)
  }
})

test('public keys of a client are added, listed and deleted, and may be all that counts', async () => {
  const { clientId } = await paybellJson('clients', 'create', 'Bank')
  const file = join(dir, 'public.jwk')
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  await writeFile(file, JSON.stringify({ ...publicKey.export({ format: 'jwk' }), kid: 'k1' }))
  const added = await run('clients', 'keys', 'add', clientId, file)
  assert.match(added.stdout, /^Key id +k1\nAlgorithm +EdDSA\n$/)
  assert.match((await run('clients', 'keys', 'list', clientId)).stdout, /^k1 +EdDSA /m)
  const accepted = await run('clients', 'keys', 'accept', clientId, 'keys')
  assert.equal(accepted.stdout, 'Bank gets tokens with its keys only.\n')
  assert.doesNotMatch(accepted.stderr, /no token/)
  await writeFile(file, JSON.stringify(privateKey.export({ format: 'jwk' })))
  // It is not even sent.
  const refused = await run('clients', 'keys', 'add', clientId, file)
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /private key/)
  assert.equal((await run('clients', 'keys', 'add', clientId, join(dir, 'none'))).code, 2)
  const deleted = await run('clients', 'keys', 'delete', clientId, 'k1')
  assert.equal(deleted.stdout, 'The key k1 is deleted.\n')
  const without = /Bank has no key, and its secrets are refused: it gets no token until/
  assert.match(deleted.stderr, without)
  assert.match((await run('clients', 'keys', 'accept', clientId, 'keys')).stderr, without)
})

test('certificates are imported from files for the clients that are named, and endpoints follow to another one', async () => {
  const root = issue({ subject: 'CN=Root', isAuthority: true })
  const files = {
    chain: join(dir, 'chain.pem'),
    key: join(dir, 'key.pem'),
    ca: join(dir, 'ca.pem'),
  }
  const importOne = async (name: string, ...more: string[]) => {
    const own = issue({ subject: 'CN=paybell', by: root, purposes: ['client'] })
    await writeFile(files.chain, own.pem + root.pem)
    await writeFile(files.key, own.keyPem)
    const options = ['--certificate-file', files.chain, '--private-key-file', files.key]
    return paybellJson('certificates', 'import', name, ...options, ...more)
  }
  const first = await importOne('pix-2026', '--everyone')
  const again = await run('certificates', 'complete', first.id, '--certificate-file', files.chain)
  assert.match(again.stdout, /^Subject +CN=paybell$/m)
  const second = await importOne('pix-2027')
  assert.deepEqual(second.clients, [])
  const giving = ['certificates', 'change', second.id]
  const unsaid = await run(...giving)
  assert.equal(unsaid.code, 2)
  assert.match(unsaid.stderr, /give --client, --everyone, --none or --name/)
  assert.equal((await run(...giving, '--client', paybell.clientId, '--everyone')).code, 2)
  const given = await run(...giving, '--client', paybell.clientId)
  assert.match(given.stdout, new RegExp(`^For +${paybell.clientId}$`, 'm'))
  assert.match((await run(...giving, '--none')).stdout, /^For +no client$/m)
  assert.deepEqual((await paybellJson(...giving, '--everyone')).clients, 'everyone')
  const asked = await run('certificates', 'request', 'pix-2028', '--subject', 'CN=paybell')
  assert.match(
    asked.stdout,
    /^-----BEGIN CERTIFICATE REQUEST-----\n.*\n-----END CERTIFICATE REQUEST-----\n$/s,
  )
  assert.match(asked.stderr, /paybell certificates complete /)
  await writeFile(files.ca, root.pem)
  const url = receiver.url('/pix').replace('http:', 'https:')
  const register = ['webhooks', 'register', url, '--generate-key']
  const webhook = await paybellJson(...register, '--client-certificate', first.id)
  const change = ['webhooks', 'change', webhook.id]
  const changed = await run(...change, '--ca-file', files.ca)
  assert.match(changed.stdout, new RegExp(`^Certificate +${first.id}$`, 'm'), 'it stays')
  assert.match(changed.stdout, /^Authorities +1 given$/m)
  const replace = ['certificates', 'replace', first.id, '--by', second.id]
  const counted = await run(...replace, '--dry-run')
  assert.equal(counted.stdout, `1 endpoint would be shown the certificate ${second.id}.\n`)
  assert.match((await run('certificates', 'show', first.id)).stdout, /^Used by +1 endpoint$/m)
  assert.deepEqual(await paybellJson(...replace), { endpoints: 1 })
  const byDefault = await run('certificates', 'default', second.id)
  assert.match(byDefault.stdout, /^0 endpoints: shown the certificate /)
  const used = await run('certificates', 'delete', second.id)
  assert.equal(used.code, 1)
  assert.match(used.stderr, /certificate-in-use/)
  assert.match(
    (await run('certificates', 'list')).stdout,
    new RegExp(`^${second.id} .* yes +everyone +1 +pix-2027$`, 'm'),
  )
  const asClient = await callCommand(['certificates', 'list'], {
    env: { ...env, PAYBELL_OPERATOR_KEY: '' },
  })
  assert.match(asClient.stdout, new RegExp(`^${second.id} .* yes +pix-2027$`, 'm'))
  assert.doesNotMatch(asClient.stdout, /pix-2028/, 'it is not signed yet')
  const none = await run(...change, '--client-certificate', 'none', '--ca-file', 'none')
  assert.doesNotMatch(none.stdout, /^Certificate/m)
  const gone = await run('certificates', 'delete', second.id)
  assert.equal(gone.stdout, `The certificate ${second.id} is deleted.\n`)
  const notPem = await run(...change, '--ca-file', join(dir, 'none.pem'))
  assert.equal(notPem.code, 2)
  assert.match(notPem.stderr, /there is no such file/)
  await writeFile(files.ca, 'not PEM')
  assert.match((await run(...change, '--ca-file', files.ca)).stderr, /is not PEM/)
  assert.equal((await run('webhooks', 'delete', webhook.id)).code, 0)
})

test('an endpoint gets the token endpoint of its receiver, its parts change one by one, and it goes again', async () => {
  const secretFile = join(dir, 'token.secret')
  await writeFile(secretFile, 'only-the-bank-knows\n')
  const client = ['--token-url', receiver.url('/token'), '--token-client-id', 'paybell']
  const register = ['webhooks', 'register', receiver.url('/bank'), '--generate-key', ...client]
  const webhook = await paybellJson(...register, '--token-client-secret-file', secretFile)
  const change = ['webhooks', 'change', webhook.id]
  const shown = {
    ...{ tokenUrl: receiver.url('/token'), clientId: 'paybell', privateKeyJwt: false },
    ...{ scope: null, audience: null, authentication: 'basic' },
  }
  assert.deepEqual(webhook.oauth2, shown)
  const posted = await paybellJson(...change, '--token-authentication', 'post')
  assert.deepEqual(posted.oauth2, { ...shown, authentication: 'post' }, 'the secret stays')
  const scoped = await run(...change, '--token-scope', 'a b', '--token-audience', 'bank')
  assert.match(scoped.stdout, /^Token client +paybell, secret \(post\)$/m)
  assert.match(scoped.stdout, /^Token scope +a b$/m)
  const keyed = await run(...change, '--token-private-key-jwt', '--token-scope', '')
  assert.match(keyed.stdout, /^Token client +paybell, private_key_jwt$/m)
  assert.doesNotMatch(keyed.stdout, /Token scope/)
  assert.doesNotMatch(scoped.stdout + keyed.stdout, /only-the-bank-knows/)
  const secret = ['--token-client-secret-file', secretFile]
  const both = await run(...change, '--token-private-key-jwt', ...secret)
  assert.equal(both.code, 2)
  assert.match(both.stderr, /not both/)
  const back = await paybellJson(...change, ...secret, '--token-authentication', 'basic')
  assert.deepEqual(back.oauth2, { ...shown, audience: 'bank' })
  const elsewhere = await run(...change, '--token-url', 'https://evil.example.com/token')
  assert.equal(elsewhere.code, 1)
  assert.match(elsewhere.stderr, /clientSecret/)
  assert.doesNotMatch((await run(...change, '--token-url', 'none')).stdout, /^Token/m)
  assert.equal((await run('webhooks', 'delete', webhook.id)).code, 0)
})

test('keys have a role, and are refused once revoked', async () => {
  const key = await paybellJson('keys', 'create', 'Dashboard', '--role', 'viewer')
  assert.match(key.key, /^pbk_/)
  const keyFile = join(dir, 'viewer.key')
  await writeFile(keyFile, `${key.key}\n`)
  assert.equal((await run('clients', 'list', '--key-file', keyFile)).code, 0)
  const refused = await run('clients', 'create', 'X', '--key-file', keyFile)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /\(403 role-not-allowed\)/)
  assert.match((await run('keys', 'list')).stdout, / viewer .* Dashboard$/m)
  assert.equal((await run('keys', 'revoke', key.id)).code, 0)
  const gone = await run('clients', 'list', '--key-file', keyFile)
  assert.match(gone.stderr, /The operator key was refused: check PAYBELL_OPERATOR_KEY/)
})

test('a payment is put, shown and listed with its amount digit for digit', async () => {
  const id = randomUUID()
  const file = join(dir, 'payment.json')
  const text = JSON.stringify({ ...SAMPLE, id, version: 1 }).replace(
    '12345.67',
    '9007199254740993.10',
  )
  await writeFile(file, text)
  const put = await run('payments', 'put', file)
  assert.match(put.stdout, new RegExp(`^${id} DUE\npayment.created, sequence 1, event `))
  assert.match((await run('payments', 'put', file)).stdout, /Stale: a newer version is stored\./)
  const shown = await run('payments', 'show', id)
  assert.match(shown.stdout, /^Amount +9007199254740993\.10 EUR$/m)
  assert.match(shown.stdout, /^ +1 {2}payment\.created /m)
  const json = await run('payments', 'show', id, '--json')
  assert.ok(json.stdout.includes('"amount":{"amount":9007199254740993.10,'), json.stdout)
  assert.match((await run('payments', 'list', '--limit', '5')).stdout, / 9007199254740993\.10 /)

  const piped = await callCommand(['payments', 'put', '-', '--id', id], {
    env,
    input: text.replace('"version":1', '"version":2').replace('"DUE"', '"DRAFT"'),
  })
  assert.equal(piped.code, 1)
  assert.match(piped.stderr, /\(409 forbidden-move\)/)
})

test('webhooks are registered, tested and deleted; a trigger reaches them', async () => {
  const key = 'only-we-two-know-this'
  const made = await paybellJson('webhooks', 'register', receiver.url(), '--shared-key', key)
  assert.equal(made.hmacHeaderName, 'X-Paybell-Hmac')
  assert.match((await run('webhooks', 'list')).stdout, new RegExp(`^${made.id} +ACTIVE `, 'm'))
  assert.match((await run('webhooks', 'test', made.id)).stdout, /^Delivered: 200 after /)

  const document = join(dir, 'receipt.pdf')
  await writeFile(document, '%PDF-')
  const args = ['--document', document, '--override', 'amount.amount=100.00']
  const triggered = await run('trigger', '--override', 'amount.currency=EUR', ...args)
  assert.equal(triggered.code, 0, triggered.stderr)
  const [, paymentId] = /^Payment (\S+) of 100\.00 EUR/.exec(triggered.stdout) ?? []
  await untilAllAre(paybell.pool, ['DELIVERED'])
  const bodies = receiver.received.map(({ body }) => body.toString())
  assert.equal(bodies.length, 5, 'the test send and four states')
  assert.ok(bodies.at(-1)?.includes('"amount":{"amount":100.00,"currency":"EUR"}'))
  assert.ok(bodies.at(-1)?.includes('"base64EncodedFile":"JVBERi0="'))

  const list = await run('deliveries', 'list', '--payment', paymentId as string)
  assert.equal(list.stdout.match(/ DELIVERED /g)?.length, 4)
  const { items } = await paybellJson('deliveries', 'list', '--payment', paymentId as string)
  const shown = await run('deliveries', 'show', items[0].id)
  assert.match(shown.stdout, /^ATTEMPT +TIME +DURATION +STATUS +ERROR$/m)
  assert.match(shown.stdout, /^X-Paybell-Hmac +[0-9a-f]{64}$/m)

  // The same as the client, which has no operator key.
  const client = { ...env, PAYBELL_OPERATOR_KEY: '' }
  const asClient = (...args: string[]) => callCommand(args, { env: client })
  const { externalId } = items[0]
  const own = await asClient('payments', 'list', '--external-id', externalId)
  assert.match(
    own.stdout,
    new RegExp(`^${paymentId} +PAID +100\\.00 +EUR .* DELIVERED .*${externalId}$`, 'm'),
  )
  const found = await asClient('find', externalId)
  assert.match(found.stdout, new RegExp(`^payment +${paymentId} +PAID +- +${externalId}$`, 'm'))
  const curl = await asClient('deliveries', 'show', items[0].id, '--curl')
  const sent = receiver.received.find(({ headers }) => headers['webhook-id'] === items[0].eventId)
  assert.ok(curl.stdout.includes(`-H 'X-Paybell-Hmac: ${sent?.headers['x-paybell-hmac']}'`))
  assert.ok(curl.stdout.endsWith(`--data-binary '${sent?.body}'\n`), curl.stdout)
  assert.equal((await asClient('deliveries', 'list', '--job', randomUUID())).code, 2)

  const last = receiver.received.at(-1)
  const bodyFile = join(dir, 'body')
  await writeFile(bodyFile, last?.body ?? '')
  const hmac = String(last?.headers['x-paybell-hmac'])
  const verify = ['signature', 'verify', bodyFile, '--hmac', hmac, '--shared-key']
  assert.equal((await run(...verify, key)).code, 0)
  const wrong = await run(...verify, 'another key')
  assert.equal(wrong.code, 1)
  assert.match(wrong.stdout, /^The signature does not hold\.\n {2}.*wrong-key: /s)
  const signed = await paybellJson('signature', 'sign', bodyFile, '--shared-key', key)
  assert.equal(signed['X-Paybell-Hmac'], hmac)

  assert.equal((await run('webhooks', 'delete', made.id)).code, 0)
})

test('a webhook and a delivery are retried once the receiver works again', async () => {
  const made = await paybellJson('webhooks', 'register', receiver.url('/mended'), '--generate-key')
  const isMended = (received: Received) => received.path === '/mended'
  receiver.answer = (received) => (isMended(received) ? 500 : 200)
  for (const _ of [1, 2]) await paybellJson('trigger', '--state', 'DRAFT')
  const { items } = await until('both have failed', async () => {
    const list = await paybellJson('deliveries', 'list', '--endpoint', made.id)
    return list.items.every(({ attempts }: { attempts: number }) => attempts > 0) && list
  })
  // Still failing: otherwise the usual retry may have delivered it before this command has started.
  const one = await run('deliveries', 'retry', items[0].id)
  assert.equal(one.stdout, `${items[0].id} is tried now.\n`)
  const attemptsOf = async () => (await paybellJson('deliveries', 'show', items[0].id)).attempts
  await until('it is tried again', async () => (await attemptsOf()) > items[0].attempts)
  assert.equal((await run('trigger', '--state', 'PENDING_APPROVAL')).code, 0)
  const listed = await run('deliveries', 'list', '--endpoint', made.id, '--limit', '1')
  assert.match(listed.stdout, / PENDING +0 .* payment.pending_approval +2 +- +waits for #1 /)
  receiver.answer = 200
  const rest = await run('webhooks', 'retry', made.id)
  assert.match(
    rest.stdout,
    /^(\d deliver(y is|ies are) tried now\.|It has no pending deliveries\.)$/m,
  )
  await until('they arrive', () => receiver.accepted.filter(isMended).length >= 2)
  await untilAllAre(paybell.pool, ['DELIVERED'])
  const ended = await run('deliveries', 'retry', items[0].id)
  assert.equal(ended.code, 1)
  assert.match(ended.stderr, /has ended/)
  await run('webhooks', 'delete', made.id)
})

test('endpoints are paused and resumed; deliveries cancelled, replayed and recovered', async () => {
  const made = await paybellJson('webhooks', 'register', receiver.url('/two'), '--generate-key')
  assert.equal(made.sharedKey.length, 43)
  const paused = await run('endpoints', 'pause', made.id)
  assert.match(paused.stdout, / is PAUSED\.$/m)
  await paybellJson('trigger', '--state', 'DRAFT')
  const pending = ['deliveries', 'list', '--endpoint', made.id]
  const { items } = await paybellJson(...pending, '--state', 'pending')
  assert.equal(items.length, 1)
  const refused = await run('webhooks', 'retry', made.id)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /paused or disabled.*Resume it/s)
  const cancelled = await run('deliveries', 'cancel', items[0].id)
  assert.equal(cancelled.stdout, `${items[0].id} is cancelled.\n`)
  assert.match((await run('endpoints', 'resume', made.id)).stdout, / is ACTIVE\.$/m)

  const recover = ['recover', '--since', '1h', '--endpoint', made.id, '--state', 'CANCELLED']
  const dry = await run(...recover, '--dry-run')
  assert.match(dry.stdout, /^1 delivery CANCELLED, created since .*: would be replayed\.$/m)
  const done = await run(...recover)
  assert.equal(done.stdout, '1 delivery replayed.\n')
  await until('it arrives', () => receiver.received.find(({ path }) => path === '/two'))
  await untilAllAre(paybell.pool, ['DELIVERED'])
  assert.equal((await run('deliveries', 'replay', items[0].id)).code, 0)
  await until('and again', () => receiver.received.filter(({ path }) => path === '/two').length > 1)
  assert.match((await run(...recover)).stdout, /nothing to replay\.$/m)
  // Health is written once a second.
  await until('its success shows', async () =>
    /^Success 24 h +100 %$/m.test((await run('endpoints', 'show', made.id)).stdout),
  )
  assert.match((await run('endpoints', 'list')).stdout, new RegExp(`^${made.id} +ACTIVE `, 'm'))
})

test('tail follows what happens, and Ctrl-C ends it with 0', async (t) => {
  const tail = startCommand(t, ['deliveries', 'tail', '--json'], { env })
  await tail.hasPrinted(/Following/)
  await paybellJson('trigger', '--state', 'DRAFT')
  await tail.hasPrinted(/"kind":"accepted".*"event":"payment\.created"/)
  await tail.hasPrinted(/"kind":"attempt".*"status":200/)
  tail.process.kill('SIGINT')
  assert.equal((await tail.ended).code, 0)
  for (const line of tail.stdout().trim().split('\n')) JSON.parse(line)
})

test('receive fails first when asked to, checks signatures, and ends after a count', async (t) => {
  const options = ['--port', '0', '--fail-first', '1', '--count', '3', '--shared-key', 'right']
  const receive = startCommand(t, ['receive', ...options, '--json'], { env })
  const [, url] = (await receive.hasPrinted(/Receiving at (\S+)/)) as unknown as [string, string]
  const sign = async (key: string) => {
    const file = join(dir, 'signed')
    await writeFile(file, '{}')
    return paybellJson('signature', 'sign', file, '--shared-key', key)
  }
  const post = async (headers: Record<string, string>) =>
    (await fetch(url, { method: 'POST', body: '{}', headers })).status
  const right = await sign('right')
  assert.equal(await post(right), 500)
  assert.equal(await post(right), 200)
  assert.equal(await post(await sign('wrong')), 401)
  const { code, stdout } = await receive.ended
  assert.equal(code, 0)
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.map(({ signature, answered }) => [signature, answered]),
    [
      ['holds', 500],
      ['holds', 200],
      ['wrong', 401],
    ],
  )
})

test('wrong usage ends with 2, and says what to do', async (t) => {
  const wrong: (readonly [string[], RegExp])[] = [
    [['clients', 'nope'], /unknown command 'nope'/],
    [['clients'], /Usage: paybell clients/],
    [['clients', 'show', 'not-a-uuid'], /Give a uuid\./],
    [['recover'], /--since/],
    [['recover', '--since', 'yesterday'], /how long ago \(2h\)/],
    [['trigger', '--state', 'LOST'], /Give one of DRAFT, CANCELLED/],
    [['trigger', '--override', 'colour=red'], /a payment has no colour/],
    [['payments', 'put', join(dir, 'nothing.json')], /there is no such file/],
    [['payments', 'import', join(dir, 'nothing.ndjson')], /there is no such file/],
    [['keys', 'create', 'X', '--role', 'king'], /admin, ingest, viewer/],
  ]
  const check = async ([args, message]: readonly [string[], RegExp]) => {
    const { code, stdout, stderr } = await run(...args)
    assert.equal(code, 2, `${args.join(' ')}: ${stderr}`)
    assert.match(stderr, message)
    assert.equal(stdout, '', 'nothing but data goes to stdout')
    assert.doesNotMatch(stderr, /\n {4}at /, 'no stack')
  }
  await Promise.all(wrong.map(check))
  const { code } = await runCommand(t, ['clients', 'nope'], { env })
  assert.equal(code, 2, 'as a process of its own, too')
})

test('a reader that goes early is no failure', async () => {
  const shell = spawn(
    'bash',
    [
      '-c',
      `"$0" "$1" clients list --size 100 | head -1; echo "\${PIPESTATUS[0]}"
       "$0" "$1" clients --help | true; echo "\${PIPESTATUS[0]}"`,
      process.execPath,
      MAIN,
    ],
    {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let output = ''
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  await once(shell, 'close')
  assert.match(output, /^CLIENT .*\n0\n0\n$/)
})

test('doctor looks at a real database, and names what is wrong with what to do', async () => {
  const production = {
    DATABASE_URL: paybell.database.url,
    PAYBELL_MASTER_KEY: paybell.masterKey.toString('base64'),
    PAYBELL_OPERATOR_KEY: paybell.operatorKey,
    PAYBELL_URL: paybell.baseUrl,
  }
  const good = await callCommand(['doctor', '--json'], { env: production })
  const { ok, checks } = JSON.parse(good.stdout)
  const statusOf = (name: string) => checks.find((check: { name: string }) => check.name === name)
  assert.equal(good.code, 0, good.stdout)
  assert.equal(ok, true)
  for (const name of [
    'program',
    'settings',
    'writes',
    'sessions',
    'connections',
    'locks',
    'clock',
    'migrations',
    'partitions',
    'master keys',
    'service',
  ]) {
    assert.equal(statusOf(name)?.status, 'ok', name)
  }
  // The server of the tests is thrown away before it needs one.
  assert.match(JSON.stringify(statusOf('tuning')), /"warning".*autovacuum is off/)
  const otherKey = {
    ...production,
    PAYBELL_MASTER_KEY: 'q83vEjRWeJASNFZ4kKvN7wECAwQFBgcICQoLDA0ODxA=',
  }
  const bad = await callCommand(['doctor'], { env: otherKey })
  assert.equal(bad.code, 1)
  assert.match(
    bad.stdout,
    /^FAILED +master keys +stored secrets need keys that are not configured/m,
  )
  assert.match(bad.stdout, /PAYBELL_MASTER_KEY=new,old/)
  const away = { ...production, DATABASE_URL: 'postgres://x:hidden-word@127.0.0.1:1/x' }
  const none = await callCommand(['doctor'], { env: away })
  assert.equal(none.code, 1)
  assert.match(none.stdout, /^FAILED +database +cannot be used/m)
  assert.ok(!none.stdout.includes('hidden-word'))
})

test('demo, on the sandbox that runs: two failures, then the signed success', async (t) => {
  const quick = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: '50' } })
  const dataDir = await makeSandboxFile(t, quick)
  const ran = await callCommand(['demo', '--json'], { env: { PAYBELL_DATA_DIR: dataDir } })
  assertDemo(ran)
  assert.ok(ran.stderr.includes(`On the sandbox at ${quick.baseUrl}`))
})

test('the README points at the first hour, and npx paybell is the bin of the workspace', async () => {
  const manifest = JSON.parse(
    await readFile(new URL('../../cli/package.json', import.meta.url), 'utf8'),
  )
  assert.deepEqual(manifest.bin, { paybell: 'paybell.js' })
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
  assert.ok(readme.includes('(docs/first-hour.md)'))
  const { stdout, code } = await run('--version')
  assert.equal(code, 0)
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
})
