// The Python of docs/audit.md, as it stands there, on an export of ours and on forged ones: an outsider computes the same
// digests, and is taken in by nothing that our own command finds.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { FORGERIES } from '../adversary/audit-forgeries.ts'
import { keepAudit } from '../support/kept-audit.ts'

const run = promisify(execFile)
const GUIDE = readFileSync(new URL('../../docs/audit.md', import.meta.url), 'utf8')
const PYTHON = /^```python\n(.*?)^```$/ms.exec(GUIDE)?.[1] ?? ''
const EXIT_CODES = { valid: 0, partial: 3, invalid: 1 }

test('regression: the Python of the guide says of every export what our own command says', async (t) => {
  const hasPython = await run('python3', ['--version']).then(
    () => true,
    () => false,
  )
  if (!hasPython) return t.skip('there is no python3')
  const kept = await keepAudit()
  t.after(() => kept.end())
  const dir = mkdtempSync(join(tmpdir(), 'paybell-audit-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const file = (name: string, content: string) => {
    writeFileSync(join(dir, name), content)
    return join(dir, name)
  }
  for (const forgery of FORGERIES) {
    const head = forgery.head ? forgery.head(kept) : kept.head
    const args = [
      file('audit.ndjson', await forgery.forge(kept)),
      ...(head === null ? [] : [file('head.json', JSON.stringify(head))]),
    ]
    const ran = await run('python3', ['-c', PYTHON, ...args]).then(
      ({ stdout }) => ({ code: 0, said: stdout }),
      ({ code, stdout, stderr }) => ({ code, said: stdout + stderr }),
    )
    // Signatures are for a library.
    if (forgery.needsSignature && ran.code !== 1) continue
    assert.equal(ran.code, EXIT_CODES[forgery.verdict], `${forgery.name}: ${ran.said}`)
    if (ran.code !== 1) assert.match(ran.said, /^head [0-9a-f]{64}$/m)
  }
})
