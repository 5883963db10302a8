// Runs after `npm ci`: builds the console, in about a second. Without the development dependencies there
// is nothing to build with, and without the console everything else works: neither fails an install.

import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('.', import.meta.url))

async function build() {
  const vite = await import('vite').catch(() => null)
  if (vite === null) return
  await vite.build({ root, logLevel: 'warn' })
}

try {
  await build()
} catch (error) {
  console.error(`The console was not built: ${error.message}`)
  console.error('The service works without it. To try again: npm run build:console')
}
