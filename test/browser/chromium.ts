// The browser of the tests: the one of PAYBELL_CHROMIUM, or the one that `npm ci` has brought, or the
// system's. It is unpacked once, into node_modules. test/run.ts starts one for all test files; a file that is
// run alone starts its own.

import { constants } from 'node:fs'
import { access, mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserServer, chromium } from 'playwright-core'

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/paybell-chromium/', import.meta.url))
const SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** A browser that is slow to start is none that cannot run, for which tests are skipped. */
const START_MS_MAX = 120_000

/** Root has no sandbox to put a browser into; small containers have little shared memory. */
const ARGS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--hide-scrollbars',
  // No page reaches another machine. Playwright could stop such requests, too, but then stops all of them to look, and
  // keeps nothing that was loaded for the next page.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE 127.0.0.2',
]

/** Left to itself it ends this process on Ctrl-C, before that has ended what else it has started. */
const ENDED_BY_US = {
  host: '127.0.0.1',
  handleSIGINT: false,
  handleSIGTERM: false,
  handleSIGHUP: false,
}

/** Where test files find the browser that runs for all of them. */
const SHARED = 'PAYBELL_TEST_BROWSER'

/** The browser, or why there is none: then the tests are skipped, and say so. */
export function launchChromium(): Promise<Browser | string> {
  const shared = process.env[SHARED]
  if (shared) return chromium.connect(shared, { timeout: START_MS_MAX })
  return start((executablePath) =>
    chromium.launch({ executablePath, args: ARGS, timeout: START_MS_MAX }),
  )
}

/** One for all test files that are started from here on; or why there is none. */
export async function shareChromium(): Promise<BrowserServer | string> {
  const server = await start((executablePath) =>
    chromium.launchServer({ ...ENDED_BY_US, executablePath, args: ARGS, timeout: START_MS_MAX }),
  )
  if (typeof server !== 'string') process.env[SHARED] = server.wsEndpoint()
  return server
}

async function start<T>(launch: (executablePath: string) => Promise<T>): Promise<T | string> {
  const reasons: string[] = []
  for (const candidate of [fromSetting, fromPackage, fromSystem]) {
    try {
      const executablePath = await candidate()
      if (executablePath === null) continue
      return await launch(executablePath)
    } catch (error) {
      const [first] = String((error as Error).message).split('\n')
      reasons.push(`${candidate.name}: ${first}`)
      // A browser that is named is the only candidate.
      if (candidate === fromSetting) break
    }
  }
  return `no Chromium can run here (${reasons.join('; ') || 'none found'}); PAYBELL_CHROMIUM names one`
}

async function fromSetting(): Promise<string | null> {
  const { PAYBELL_CHROMIUM: path } = process.env
  return path ? path : null
}

async function fromPackage(): Promise<string | null> {
  const { default: packed } = await import('@sparticuz/chromium')
  await mkdir(CACHE, { recursive: true })
  const { TMPDIR } = process.env
  // It unpacks into the temporary folder, where 180 MB would be left.
  process.env.TMPDIR = CACHE
  try {
    return await packed.executablePath()
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}

async function fromSystem(): Promise<string | null> {
  for (const path of SYSTEM) {
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  return null
}
