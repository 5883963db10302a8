// The viewer of /docs, its page and its script of 4 MB, as a library makes them. Loading that takes 0.2 s and 26 MB: a
// thread of its own does it, once, and ends.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type KeptFile, keepFile } from '../answers/kept-file.ts'

export interface Viewer {
  page: KeptFile
  script: KeptFile
}

/** Its own greys and colours are too faint to be read on its own grounds: these have 4.5 to 1 on each of them (WCAG 1.4.3). */
const COLOURS = `.light-mode { --scalar-color-2: #5f5f5f; --scalar-color-3: #666; --scalar-color-green: #05704c;
  --scalar-color-blue: #0063a0; --scalar-color-orange: #a34a04; --scalar-color-red: #c40005 }
.dark-mode { --scalar-color-3: #a4a4a4; --scalar-color-red: #ff6b69 }`

const CONFIGURATION = {
  url: '../openapi.json',
  pageTitle: 'Paybell API',
  theme: 'default',
  customCss: COLOURS,
  withDefaultFonts: false,
  proxyUrl: '',
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
}

/** What the thread runs: text, because a bundle of this program has no file of its own for it. */
const LOAD = `
const { parentPort, workerData } = require('node:worker_threads')
async function load({ fastify, library, configuration }) {
  const viewer = (await import(fastify)).fastify()
  await viewer.register((await import(library)).default, { routePrefix: '/docs', configuration })
  const paths = ['/docs/', '/docs/js/scalar.js']
  const answers = await Promise.all(paths.map((url) => viewer.inject({ url })))
  parentPort.postMessage(answers.map(({ rawPayload }) => new Uint8Array(rawPayload)))
}
load(workerData)
`

export async function loadViewer(): Promise<Viewer> {
  const worker = new Worker(LOAD, {
    eval: true,
    workerData: {
      fastify: import.meta.resolve('fastify'),
      library: import.meta.resolve('@scalar/fastify-api-reference'),
      configuration: CONFIGURATION,
    },
  })
  // Rejects with what the thread throws.
  const [[page, script]] = (await once(worker, 'message')) as [[Uint8Array, Uint8Array]]
  // It does not say in which language it is, and a screen reader would guess.
  const text = Buffer.from(page).toString().replace('<html>', '<html lang="en">')
  return { page: await keepFile(text), script: await keepFile(script) }
}
