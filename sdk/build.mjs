// Builds dist/: two bundles for every runtime, and the types. Plain JavaScript, because it also runs
// on a Node that cannot read TypeScript. `node build.mjs [folder]`.

import { execFileSync } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const out = resolve(process.argv[2] ?? join(HERE, 'dist'))

rmSync(out, { recursive: true, force: true })
await build({
  absWorkingDir: HERE,
  entryPoints: ['src/index.ts', 'src/adapters.ts'],
  outdir: out,
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
})

const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc')
execFileSync(process.execPath, [tsc, '-p', join(HERE, 'tsconfig.build.json'), '--outDir', out], {
  stdio: 'inherit',
})
// The compiler keeps `.ts` in the imports of declarations; beside them are only `.d.ts` files.
for (const name of readdirSync(out).filter((each) => each.endsWith('.d.ts'))) {
  const text = readFileSync(join(out, name), 'utf8')
  writeFileSync(join(out, name), text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
}
copyFileSync(join(HERE, '../LICENSE'), join(out, 'LICENSE'))
