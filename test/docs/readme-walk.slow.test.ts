// The walk of the README, pasted into a shell as a reader would: its blocks are taken from README.md
// and run as they stand. Only the environment says where the sandbox is and which port is free.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { limitOf } from '../support/busy-machine.ts'
import { freePort } from '../support/free-port.ts'
import { makeDataDir, startSandbox } from '../support/sandbox.ts'

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

/** The fenced blocks marked `sh walk`, in order. */
function walkBlocks(): string[] {
  return [...README.matchAll(/^```sh walk\n(.*?)^```$/gms)].map((match) => match[1] as string)
}

test('README: one sentence, then how to start and how to test it', () => {
  assert.match(README, /^# Paybell\n\nPaybell [^.]+\.\n/)
  const commands = [...README.matchAll(/^```sh\n(.*?)\n```$/gms)].map((match) => match[1])
  assert.deepEqual(commands, ['npm ci && npm start', 'npm ci && npm test'])
})

test('README: the walk leads to a signed callback that verifies', async (t) => {
  // As a script starts it: with the settings that it has by itself, and without a terminal.
  const sandbox = await startSandbox(t, {
    dataDir: await makeDataDir(t),
    env: { PAYBELL_SANDBOX_SEED: 'terminal' },
  })
  const shell = startShell(t, {
    PAYBELL_DATA_DIR: sandbox.dataDir,
    RECEIVER_PORT: String(await freePort()),
  })
  const blocks = walkBlocks()
  assert.equal(blocks.length, 5, 'token, receiver, registration, payment, list')

  // A person reads on while the callback arrives; here it is waited for before the last block, which
  // stops the receiver.
  shell.write(blocks.slice(0, -1).join('\n'))
  await shell.hasPrinted(/payment\.created: the signature (.*)\n(.*)\n/m)
  shell.write(blocks.at(-1) as string)
  assert.equal(await shell.end(), 0)

  const printed = shell.printed()
  const callback = /payment\.created: the signature (.*)\n(.*)\n/.exec(printed)
  assert.equal(callback?.[1], 'holds')
  const body = callback?.[2] as string
  assert.match(body, /"amount":\{"amount":1250\.00,"currency":"EUR"\}/)

  assert.match(printed, /^200$/m, 'the registration answers 200')
  assert.ok(printed.includes(`{"payment":${body},"event":{`), 'the write shows the same payment')
  const list = printed.split('\n').find((line) => line.startsWith('{"content":'))
  const { content, totalElements } = JSON.parse(list as string)
  assert.equal(totalElements, 1)
  assert.equal(content[0].hmacHeaderName, 'X-Paybell-Hmac')
  assert.equal(content[0].status, 'ACTIVE')

  // regression: without a terminal there is one client and nothing else.
  const answer = await fetch(`${sandbox.baseUrl}/operator/v1/clients`, {
    headers: { authorization: `Bearer ${sandbox.operatorKey}` },
  })
  assert.equal(((await answer.json()) as { totalElements: number }).totalElements, 1)
})

function startShell(t: TestContext, env: Record<string, string>) {
  // A process group of its own, so that after a failure a receiver ends with its shell.
  const shell = spawn('bash', [], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  const closed = once(shell, 'close').then(([code]) => code as number)
  let output = ''
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      shell.emit('printed')
    })
  }
  t.after(() => {
    try {
      process.kill(-(shell.pid as number), 'SIGKILL')
    } catch {
      // It has ended already, and everything that it started.
    }
  })
  return {
    write: (text: string) => shell.stdin.write(text),
    printed: () => output,
    /** Waits for a line to appear; the limit leaves room for a busy machine and a first retry. */
    async hasPrinted(pattern: RegExp) {
      const signal = AbortSignal.timeout(limitOf(60_000))
      while (!pattern.test(output)) {
        await once(shell, 'printed', { signal }).catch(() => {
          throw new Error(`the walk has not printed ${pattern}; so far:\n${output}`)
        })
      }
    },
    end(): Promise<number> {
      shell.stdin.end()
      return closed
    },
  }
}
