// The console as it is in the tree: built again when a source is younger than the build.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CONSOLE = fileURLToPath(new URL('../../console/', import.meta.url))

export async function buildConsole(): Promise<void> {
  const built = await stat(join(CONSOLE, 'dist/index.html')).catch(() => null)
  if (built !== null && built.mtimeMs > (await youngestMs())) return
  const { build } = await import('vite')
  await build({ root: CONSOLE, logLevel: 'warn' })
}

async function youngestMs(): Promise<number> {
  const sources = await readdir(join(CONSOLE, 'src'), { recursive: true })
  const paths = ['index.html', 'vite.config.ts', ...sources.map((name) => join('src', name))]
  const found = await Promise.all(paths.map((path) => stat(join(CONSOLE, path))))
  return Math.max(...found.map(({ mtimeMs }) => mtimeMs))
}
