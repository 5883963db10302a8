// `paybell webhooks import`: a file of another sender's endpoints, checked first, then registered, and gone on with
// after an interruption.

import assert from 'node:assert/strict'
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { callCommand } from '../support/called-command.ts'
import { startPaybell } from '../support/paybell.ts'

const paybell = await startPaybell({ after })
const folder = await mkdtemp(join(tmpdir(), 'paybell-import-'))
after(() => rm(folder, { recursive: true, force: true }))
const env = {
  PAYBELL_URL: paybell.baseUrl,
  PAYBELL_CLIENT_ID: paybell.clientId,
  PAYBELL_CLIENT_SECRET: paybell.clientSecret,
  PAYBELL_ACCOUNT_ID: paybell.accountId,
}
const file = join(folder, 'endpoints.csv')
const CSV = `url,secret,header,events,description
https://a.example/in,canary-one,X-Acme-Signature,payment.paid payment.due,"Shop, south"
https://b.example/in,canary-two,Authorization,,
https://c.example/in,canary-three,,,
`

test('a dry run checks every row and registers nothing; then all good rows are, and no key is shown', async () => {
  await writeFile(file, CSV)
  const dry = await callCommand(['webhooks', 'import', file, '--dry-run', '--json'], { env })
  assert.equal(dry.code, 1)
  assert.deepEqual(JSON.parse(dry.stdout), { new: 2, known: 0, bad: 1 })
  assert.match(dry.stderr, /Row 2 \(https:\/\/b\.example\/in\): hmacHeaderName/)
  assert.deepEqual(await paybell.caller.webhooks(), [])

  const ran = await callCommand(['webhooks', 'import', file], { env })
  assert.equal(ran.code, 1)
  assert.match(ran.stdout, /2 webhooks are registered\.\n1 row was refused\./)
  assert.doesNotMatch(dry.stderr + ran.stdout + ran.stderr, /canary/)
  const [first, second] = await paybell.caller.webhooks()
  assert.equal(first?.hmacHeaderName, 'X-Acme-Signature')
  assert.deepEqual(first?.events, ['payment.paid', 'payment.due'])
  assert.equal(first?.description, 'Shop, south')
  assert.equal(second?.events, undefined)
  await assert.rejects(access(`${file}.import`), 'finished: no progress is left')
})

test('after an interruption it goes on where it stopped, and refuses another file', async () => {
  const good = join(folder, 'good.json')
  const endpoints = ['d', 'e', 'f'].map((name) => ({
    url: `https://${name}.example/in`,
    secret: `canary-${name}`,
  }))
  await writeFile(good, JSON.stringify(endpoints))
  // As a run that was killed after its second row leaves it.
  const state = `${good}.import`
  const { createHash } = await import('node:crypto')
  const sha256 = createHash('sha256')
    .update(await readFile(good))
    .digest('hex')
  const progress = { version: 1, service: paybell.baseUrl, sha256, done: 2, refused: 0 }
  await writeFile(state, JSON.stringify(progress))
  const ran = await callCommand(['webhooks', 'import', good], { env })
  assert.equal(ran.code, 0, ran.stderr)
  assert.match(ran.stderr, /Going on after row 2/)
  const urls = (await paybell.caller.webhooks()).map(({ endpointUrl }) => endpointUrl)
  assert.ok(urls.includes('https://f.example/in') && !urls.includes('https://d.example/in'))

  await writeFile(state, JSON.stringify({ ...progress, sha256: '0'.repeat(64) }))
  const other = await callCommand(['webhooks', 'import', good], { env })
  assert.equal(other.code, 2)
  assert.match(other.stderr, /another file or service/)
  const again = await callCommand(['webhooks', 'import', good, '--restart'], { env })
  assert.equal(again.code, 0, again.stderr)
})

test('settings are given and changed from the command line', async () => {
  const args = ['webhooks', 'register', 'https://g.example/in', '--shared-key', 'a-key', '--json']
  const made = await callCommand([...args, '--document', 'none'], { env })
  const { id, document } = JSON.parse(made.stdout) as { id: string; document: string }
  assert.equal(document, 'none')
  const change = [
    'webhooks',
    'change',
    id,
    '--events',
    'payment.paid',
    '--hmac-header-name',
    'X-Own',
  ]
  const changed = await callCommand(change, { env })
  assert.equal(changed.code, 0, changed.stderr)
  assert.match(changed.stdout, /X-Own/)
  assert.match(changed.stdout, /payment\.paid/)
  assert.match(changed.stderr, /from now on/)
})
