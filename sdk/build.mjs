// Builds dist/: the modules for `import` and for `require`, each with its types beside it. They stay separate
// files, so that the entry points share one PaybellError. Plain JavaScript, because it also runs on a Node that
// cannot read TypeScript. `node build.mjs [folder]`.

import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const out = resolve(process.argv[2] ?? join(HERE, 'dist'))
const [esm, cjs] = [join(out, 'esm'), join(out, 'cjs')]

rmSync(out, { recursive: true, force: true })
const modules = readdirSync(join(HERE, 'src'), { recursive: true }).filter(
  (name) => /(?<!\.test)\.ts$/.test(name) && !name.startsWith('internal'),
)
for (const [format, outdir] of Object.entries({ esm, cjs })) {
  await build({
    absWorkingDir: HERE,
    entryPoints: modules.map((name) => `src/${name}`),
    outdir,
    outbase: 'src',
    format,
    // Of Node, esbuild adds the list of names that lets `import` find those of a CommonJS module.
    platform: format === 'cjs' ? 'node' : 'neutral',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
  })
}

const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc')
execFileSync(process.execPath, [tsc, '-p', join(HERE, 'tsconfig.build.json'), '--outDir', esm], {
  stdio: 'inherit',
})
for (const name of filesIn(esm, /\.d\.ts$/)) {
  cpSync(join(esm, name), join(cjs, name))
}
// Both keep `.ts` in their imports; beside them are only `.js` and `.d.ts` files.
for (const folder of [esm, cjs]) {
  for (const name of filesIn(folder, /\.js$|\.d\.ts$/)) {
    const text = readFileSync(join(folder, name), 'utf8')
    writeFileSync(join(folder, name), text.replaceAll(/(['"]\.\.?\/[\w/-]+)\.ts(['"])/g, '$1.js$2'))
  }
}
// The package is a module; this folder of it is not.
writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n')

function filesIn(folder, pattern) {
  return readdirSync(folder, { recursive: true }).filter((name) => pattern.test(name))
}
