// The operator's part of docs/first-hour.md, run for real against the service with a sandbox's settings: each command of
// the walk, in order, and what it prints compared with what the page says. Ids, secrets and times are replaced by
// stable ones; the commands of the page are turned back into real ones. UPDATE_TRANSCRIPT=1 rewrites the page.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { limitOf } from '../support/busy-machine.ts'
import { callCommand } from '../support/called-command.ts'
import { type Started, startCommand } from '../support/command-line.ts'
import { freePort } from '../support/free-port.ts'
import { makeSandboxFile, startPaybell } from '../support/paybell.ts'

const PAGE = new URL('../../docs/first-hour.md', import.meta.url)
const IS_UPDATE = Boolean(process.env.UPDATE_TRANSCRIPT)
/** The port that the page names; the test takes a free one. */
const PAGE_PORT = '8099'
const LOOK_MS_MAX = 45_000

interface Step {
  command: string
  expected: string[]
}

interface Block {
  isReceiver: boolean
  steps: Step[]
  /** Where the block's lines are on the page. */
  start: number
  end: number
}

function readBlocks(page: string): Block[] {
  return [...page.matchAll(/^```console (walk|receiver)\n(.*?)^```$/gms)].map((match) => {
    const body = match[2] as string
    const start = match.index + (match[0].indexOf('\n') + 1)
    const steps: Step[] = []
    for (const line of body.split('\n').slice(0, -1)) {
      if (line.startsWith('$ ')) steps.push({ command: line.slice(2), expected: [] })
      else steps.at(-1)?.expected.push(line)
    }
    return { isReceiver: match[1] === 'receiver', steps, start, end: start + body.length }
  })
}

/** What differs at every run, as the page has it; and back. */
class Disguise {
  #shown = new Map<string, string>()
  #real = new Map<string, string>()
  #counts = new Map<string, number>()
  readonly #port: string
  readonly #baseUrl: string

  constructor(port: string, baseUrl: string) {
    this.#port = port
    this.#baseUrl = baseUrl
  }

  /** What `use` returns null for is forgotten: a look that came too early names nothing. */
  trying(use: () => string | null): string | null {
    const before = [new Map(this.#shown), new Map(this.#real), new Map(this.#counts)] as const
    const text = use()
    if (text === null) [this.#shown, this.#real, this.#counts] = before
    return text
  }

  hide(text: string): string {
    return text
      .replaceAll(this.#baseUrl, 'http://127.0.0.1:8080')
      .replaceAll(`:${this.#port}/`, `:${PAGE_PORT}/`)
      .replace(/pbs_[\w-]{43}/g, (secret) => this.#name('pbs_', secret))
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => this.#name('id', id))
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, '2026-11-15 06:00:00Z')
      .replace(/(EXHAUSTED|DELIVERED)( +\d+)/g, (cells, state, attempts) => {
        if (Number(attempts) < 2) return cells
        return state + (state === 'EXHAUSTED' ? '40' : '41').padStart(attempts.length)
      })
      .replace(/attempt (\d+)/g, (text, attempt) => (Number(attempt) < 2 ? text : 'attempt 41'))
      .replace(/ +\d+\.\d %/g, (cell) => '2.6 %'.padStart(cell.length))
  }

  reveal(command: string): string {
    return command
      .replaceAll(PAGE_PORT, this.#port)
      .replace(/pbs_[\w-]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (shown) => {
        const real = this.#real.get(shown)
        assert.ok(real, `the page uses ${shown} before anything printed it`)
        return real
      })
  }

  #name(kind: 'pbs_' | 'id', real: string): string {
    const known = this.#shown.get(real)
    if (known !== undefined) return known
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    const shown =
      kind === 'id'
        ? `01a1dd3c-57d6-7000-9e6f-${String(count).padStart(12, '0')}`
        : `pbs_${String(count).padStart(43, 'x')}`
    this.#shown.set(real, shown)
    this.#real.set(shown, real)
    return shown
  }
}

const isLook = (command: string) => / (list|show) /.test(command)

test('docs/first-hour.md prints what it says', async (t) => {
  const page = readFileSync(PAGE, 'utf8')
  const blocks = readBlocks(page)
  assert.ok(blocks.length >= 7, 'client, webhook, receivers, payments, recovery')
  const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: '100000' } })
  const disguise = new Disguise(String(await freePort()), paybell.baseUrl)
  const env: Record<string, string> = { PAYBELL_DATA_DIR: await makeSandboxFile(t, paybell) }

  const printed: string[] = []
  let receiver: RunningReceiver | null = null
  const stopReceiver = async () => {
    if (receiver === null) return
    const { step, started, index } = receiver
    const text = disguise.hide(await stop(receiver))
    printed[index] = `$ ${step.command}\n${text}`
    if (!IS_UPDATE) assert.equal(text, toText(step.expected), started.stderr())
  }
  for (const [index, block] of blocks.entries()) {
    if (block.isReceiver) {
      await stopReceiver()
      const [step] = block.steps as [Step]
      const started = startCommand(t, argsOf(disguise.reveal(step.command)), { env })
      await started.hasPrinted(/Receiving at /)
      receiver = { step, started, index }
      continue
    }
    const texts: string[] = []
    for (const { command, expected } of block.steps) {
      const text = await runStep(disguise, env, command, toText(expected))
      texts.push(`$ ${command}\n${text}`)
      if (!IS_UPDATE) assert.equal(text, toText(expected), `what "${command}" prints`)
    }
    printed[index] = texts.join('')
  }
  await (receiver as RunningReceiver | null)?.started.hasPrinted(
    /(.*replay.*signature holds {2}answered 200\n){3}/,
  )
  await stopReceiver()
  if (IS_UPDATE) writeFileSync(PAGE, withBlocks(page, blocks, printed))
})

async function runStep(
  disguise: Disguise,
  env: Record<string, string>,
  command: string,
  expected: string,
): Promise<string> {
  const real = disguise.reveal(command)
  if (real.startsWith('export ')) {
    for (const pair of real.slice('export '.length).split(' ')) {
      const [name, value] = pair.split('=') as [string, string]
      env[name] = value
    }
    return ''
  }
  if (real.startsWith('unset ')) {
    for (const name of real.slice('unset '.length).split(' ')) delete env[name]
    return ''
  }
  // A person reads on while things happen; a look is repeated until it shows what the page shows.
  const startedAt = performance.now()
  for (;;) {
    const { code, stdout, stderr } = await callCommand(argsOf(real), { env })
    assert.equal(code, 0, `${command}: ${stderr}`)
    const hints = stderr.replace(/^Using the sandbox at .*\n/, '')
    const isEnough =
      !isLook(real) || performance.now() - startedAt > limitOf(IS_UPDATE ? 12_000 : LOOK_MS_MAX)
    const text = disguise.trying(() => {
      const shown = disguise.hide(stdout + hints)
      return isEnough || (!IS_UPDATE && shown === expected) ? shown : null
    })
    if (text !== null) return text
    await delay(200)
  }
}

interface RunningReceiver {
  step: Step
  started: Started
  /** Which block of the page it is. */
  index: number
}

/** Ends a receiver; returns what it printed. Of one that fails on purpose, how it began. */
async function stop({ step, started }: RunningReceiver): Promise<string> {
  started.process.kill('SIGINT')
  const { code, stdout, stderr } = await started.ended
  assert.equal(code, 0, 'Ctrl-C ends it cleanly')
  if (!step.command.includes('--status')) return stderr + stdout
  const [first, second] = stdout.split('\n')
  assert.ok(second, 'it fails more than once')
  return `${stderr}${first}\n…\n`
}

/** The words of a command as a shell would part them: quotes, and nothing else, are special. */
function argsOf(command: string): string[] {
  const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '')
  assert.equal(words[0], 'paybell')
  return words.slice(1)
}

function toText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

function withBlocks(page: string, blocks: readonly Block[], printed: readonly string[]): string {
  let text = page
  for (const [index, { start, end }] of [...blocks.entries()].reverse()) {
    text = text.slice(0, start) + printed[index] + text.slice(end)
  }
  return text
}
