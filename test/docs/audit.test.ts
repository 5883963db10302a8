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

/** Runs the guide's program for each line of arguments as if it were started again: starting Python costs more than
 *  what it does here. */
const AGAIN_AND_AGAIN = `
import contextlib, io, json, sys
program = compile(sys.argv[1], "guide", "exec")
for line in sys.stdin.read().splitlines():
    sys.argv = ["guide"] + json.loads(line)
    said, code = io.StringIO(), 0
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            exec(program, {"__name__": "__main__"})
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1 if end.code else 0
        said.write(str(end.code))
    except BaseException as error:
        code = 1
        said.write(repr(error))
    print(json.dumps({"code": code, "said": said.getvalue()}))
`

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
  const lines: string[] = []
  for (const [n, forgery] of FORGERIES.entries()) {
    const head = forgery.head ? forgery.head(kept) : kept.head
    const args = [
      file(`${n}.ndjson`, await forgery.forge(kept)),
      ...(head === null ? [] : [file(`${n}.json`, JSON.stringify(head))]),
    ]
    lines.push(JSON.stringify(args))
  }
  const python = run('python3', ['-c', AGAIN_AND_AGAIN, PYTHON])
  python.child.stdin?.end(lines.join('\n'))
  const answers = (await python).stdout.trim().split('\n')
  assert.equal(answers.length, FORGERIES.length)
  for (const [n, forgery] of FORGERIES.entries()) {
    const { code, said }: { code: number; said: string } = JSON.parse(answers[n] as string)
    // Signatures are for a library.
    if (forgery.needsSignature && code !== 1) continue
    assert.equal(code, EXIT_CODES[forgery.verdict], `${forgery.name}: ${said}`)
    if (code !== 1) assert.match(said, /^head [0-9a-f]{64}$/m)
  }
})
