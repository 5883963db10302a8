// The commands of the guides, as they stand there, in a shell against a real service: each is run here, by
// another test that is named, or not at all for a reason that is given.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { sealAudit } from '../../server/operations/proofs/seal-audit.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'

const DOCS = new URL('../../docs/', import.meta.url)
const MAIN = fileURLToPath(new URL('../../cli/paybell.js', import.meta.url))

/** Blocks that are not run here, by how they begin. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'export DATABASE_URL=': 'production needs a database of its own: test/e2e/serve.slow.test.ts',
  'node --max-semi-space-size': 'cli/operator/node-flags.slow.test.ts compares it',
  'paybell payments erase': 'test/e2e/erasure.test.ts',
  'npm install @opentelemetry': 'needs the network; test/e2e/tracing.test.ts loads an SDK',
  'DATABASE_URL=postgres://paybell_owner': 'test/e2e/app-role.slow.test.ts',
  'nats ': 'needs the nats command; test/e2e/nats.slow.test.ts publishes the same',
  'kafka-': 'needs a Kafka; test/e2e/kafka.release.test.ts publishes the same',
  PAYBELL_TIME_SCALE: 'test/docs/first-hour.slow.test.ts walks on from there',
  'npx --package=./paybell-0.2.0.tgz paybell sandbox':
    'test/e2e/packages.release.test.ts starts it from its tarball',
  'npm install --prefix':
    'needs the network; test/e2e/packages.release.test.ts installs the tarball',
  'paybell reconcile': 'test/docs/statements.slow.test.ts: it needs a file of ids',
  'npm ci && npm start': 'test/docs/readme-walk.slow.test.ts walks on from there',
  'docker build': 'needs an engine; test/deploy/image.test.ts reads the Dockerfile',
  'cd deploy/compose': 'needs an engine; test/deploy/compose.test.ts runs prepare.sh',
  'kubectl create secret': 'needs a cluster; test/deploy/chart.test.ts renders the chart',
}
/** With tests of their own. */
const WHOLE_PAGES = ['signatures.md', 'receivers.md', 'statements.md', 'backup.md']

interface Block {
  page: string
  text: string
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(new URL(page, DOCS), 'utf8')
  return [...text.matchAll(/^```(sh|console)\n(.*?)^```$/gms)].map(([, kind, body]) => ({
    page,
    text:
      kind === 'sh'
        ? (body as string)
        : [...(body as string).matchAll(/^\$ (.*)$/gm)].map(([, line]) => line).join('\n'),
  }))
}

const pages = readdirSync(DOCS).filter(
  (name) => name.endsWith('.md') && !WHOLE_PAGES.includes(name),
)
const dir = mkdtempSync(join(tmpdir(), 'paybell-docs-'))
after(() => rmSync(dir, { recursive: true }))

/** What one command has compiled the next need not. */
const CACHE = process.env.NODE_COMPILE_CACHE ?? join(dir, 'cache')

const paybell = await startPaybell({ after })

async function call<T>(path: string, init: RequestInit): Promise<T> {
  const answer = await fetch(`${paybell.baseUrl}${path}`, init)
  const text = await answer.text()
  assert.ok(answer.ok, text)
  return (text === '' ? null : JSON.parse(text)) as T
}

/** What the pages take for granted: a token, a webhook, a payment, its delivery, a seal and files to send. */
async function prepare(): Promise<Record<string, string>> {
  const { clientId, clientSecret, accountId, operatorKey } = paybell
  const json = { 'content-type': 'application/json' }
  const { access_token: token } = await call<{ access_token: string }>('/auth/token', {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ clientId, clientSecret }),
  })
  const own = { authorization: `Bearer ${token}`, AccountId: accountId }
  await call('/v1/webhooks/register', {
    method: 'POST',
    headers: { ...own, ...json },
    body: JSON.stringify({ callbackUrl: 'http://127.0.0.1:9/hook', sharedKey: 'only-we-two-know' }),
  })
  const { content } = await call<{ content: { id: string }[] }>('/v1/webhooks/list', {
    headers: own,
  })
  const id = '7c0d0a5e-54c8-4b56-9f0e-2a4f5d1c9b99'
  await call(`/operator/v1/payments/${id}`, {
    method: 'PUT',
    headers: { ...json, authorization: `Bearer ${operatorKey}`, AccountId: accountId },
    body: sampleBody({ id }),
  })
  const { items } = await call<{ items: { id: string }[] }>('/v1/deliveries?limit=1', {
    headers: own,
  })
  // What no minute has passed for yet: an export without a segment proves nothing.
  await until('the audit is sealed', async () => {
    await sealAudit(paybell.app.deps, { everyMsMin: 0 })
    return (await paybell.pool.query('select from audit_segments')).rowCount !== 0
  })
  const line = sampleBody({ id: '7c0d0a5e-54c8-4b56-9f0e-2a4f5d1c9b98', accountId })
  writeFileSync(join(dir, 'payments.ndjson'), `${line}\n`)
  writeFileSync(join(dir, 'body.json'), '{}')
  // As `npm start` would have left it.
  mkdirSync(join(dir, '.paybell'))
  const facts = { baseUrl: paybell.baseUrl, operatorKey, clientId, clientSecret, accountId }
  writeFileSync(join(dir, '.paybell', 'sandbox.json'), JSON.stringify(facts))
  return {
    PAYBELL_URL: paybell.baseUrl,
    PAYBELL_CLIENT_ID: clientId,
    PAYBELL_CLIENT_SECRET: clientSecret,
    PAYBELL_ACCOUNT_ID: accountId,
    PAYBELL_OPERATOR_KEY: operatorKey,
    TOKEN: token,
    ID: content[0]?.id as string,
    PAYMENT: id,
    DELIVERY: items[0]?.id as string,
  }
}

const env = await prepare()

/** A refusal, or a command that fails, ends the page. */
const PRELUDE = `set -euo pipefail
curl() { command curl --fail-with-body "$@"; echo; }
paybell() { "${process.execPath}" "${MAIN}" "$@"; }
`

for (const page of pages) {
  const run = blocksOf(page).filter(
    ({ text }) => !Object.keys(ELSEWHERE).some((beginning) => text.startsWith(beginning)),
  )
  if (run.length === 0) continue
  test(`docs/${page}: its commands work as they stand there`, async () => {
    const script = run
      .map(({ text }, index) => `echo "== block ${index + 1}"\n${text}`)
      .join('\n')
      .replaceAll('http://127.0.0.1:8080', paybell.baseUrl)
    const ran = promisify(execFile)('bash', ['-c', PRELUDE + script], {
      cwd: dir,
      env: { PATH: process.env.PATH ?? '', HOME: dir, NODE_COMPILE_CACHE: CACHE, ...env },
    })
    const { stdout } = await ran.catch((error: { stdout: string; stderr: string }) => {
      assert.fail(`${error.stdout}\n${error.stderr}`)
    })
    assert.equal(stdout.match(/^== block/gm)?.length, run.length)
  })
}

test('what is not run here still stands in the guides', () => {
  const all = pages.concat(WHOLE_PAGES).flatMap(blocksOf)
  for (const beginning of Object.keys(ELSEWHERE)) {
    assert.ok(
      all.some(({ text }) => text.startsWith(beginning)),
      beginning,
    )
  }
})
