// Receivers that refuse the certificate they are shown, as OpenSSL does, which most of them are made with: it says in an
// alert why. Those of Node only close the connection.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { freePort } from '../../../test/support/free-port.ts'
import { issue, revoke } from '../../../test/support/issue-certificate.ts'
import {
  AUTHORITIES,
  other,
  own,
  receiver,
  root,
  SHOWN,
  shownOf,
  startSend,
} from '../../../test/support/shown-certificates.ts'
import { until } from '../../../test/support/until.ts'

/** It answers with what it got, reversed: who gets that far was taken. */
const TAKEN = 'protocol-error'
const revoked = issue({ subject: 'CN=revoked', by: root, purposes: ['client'] })

async function startOpenssl(t: TestContext, args: readonly string[]) {
  const dir = await mkdtemp(join(tmpdir(), 'paybell-openssl-'))
  const files = {
    'cert.pem': receiver.pem,
    'key.pem': receiver.keyPem,
    'ca.pem': root.pem,
    'revoked.pem': revoke(root, [revoked]),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text)
  const port = await freePort()
  const own = ['-accept', `127.0.0.1:${port}`, '-cert', 'cert.pem', '-key', 'key.pem']
  const child = spawn('openssl', ['s_server', ...own, '-CAfile', 'ca.pem', ...args], { cwd: dir })
  let isMissing = false
  let said = ''
  child.on('error', () => {
    isMissing = true
  })
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      said += bytes.toString()
    })
  }
  t.after(async () => {
    if (child.exitCode === null && !isMissing) {
      child.kill()
      await once(child, 'exit')
    }
    await rm(dir, { recursive: true, force: true })
  })
  await until('openssl listens', () => isMissing || /^ACCEPT/m.test(said))
  return { port, isMissing, child: child as ChildProcess, said: () => said }
}

const NOT_HERE = 'openssl is not on this machine'
/** It asks, and tells of nothing but its refusal. */
const ASKS = ['-rev', '-verify_return_error', '-Verify', '1', '-crl_check', '-CRL', 'revoked.pem']

for (const version of ['-tls1_2', '-tls1_3']) {
  test(`what a receiver does not take has words of its own, ${version}`, async (t) => {
    const { port, isMissing } = await startOpenssl(t, [version, ...ASKS])
    if (isMissing) return t.skip(NOT_HERE)
    const yesterday = new Date(Date.now() - 86_400_000)
    const expired = issue({ subject: 'CN=expired', by: root, notAfter: yesterday })
    const certificates = {
      own,
      stranger: shownOf(issue({ subject: 'CN=stranger', by: other })),
      expired: shownOf(expired),
      revoked: shownOf(revoked),
    }
    const send = startSend(t, certificates)
    const ask = (clientCertificate: string | null) =>
      send(port, { clientCertificate, certificateAuthorities: AUTHORITIES })
    assert.equal(await ask('own'), TAKEN)
    for (const refused of ['stranger', 'expired', 'revoked']) {
      assert.equal(await ask(refused), 'certificate-refused', refused)
    }
    assert.equal(await ask(null), version === '-tls1_3' ? 'certificate-refused' : 'tls-error')
    assert.equal(await ask('own'), TAKEN)
  })
}

test('a receiver that asks only after the handshake is not answered: it knows, and says so in its answer', async (t) => {
  const { port, isMissing, child, said } = await startOpenssl(t, ['-tls1_3'])
  if (isMissing) return t.skip(NOT_HERE)
  const outcome = startSend(t)(port, SHOWN)
  await until('the request is there', () => said().includes('POST /callbacks'))
  // Its command to ask for a certificate now.
  child.stdin?.write('c\n')
  await until('it has tried', () => said().includes('extension not received'))
  child.stdin?.write('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
  assert.equal(await outcome, 403)
})
