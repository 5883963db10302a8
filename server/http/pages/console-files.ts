// The files of the built console (console/dist), read into memory on first use. A name is checked against
// a pattern before it becomes part of a path; a new build is noticed.

import { readFile, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { BoundedMap } from '../../core/plain/bounded-map.ts'
import { type KeptFile, keepFile } from '../answers/kept-file.ts'
import { CONSOLE_DIST } from './shipped-folders.ts'

const INDEX = 'index.html'

/** One name, or one name under assets/. Never with a leading dot. */
const NAME = /^(assets\/)?[A-Za-z0-9_-][A-Za-z0-9._-]{0,120}$/
/** More than a build has; files of earlier builds are evicted. */
const FILES_MAX = 200
const FILE_BYTES_MAX = 4 * 1024 * 1024

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
}

export interface ConsoleFile extends KeptFile {
  type: string
  /** Its name changes with its content. */
  isImmutable: boolean
}

interface CachedFile extends ConsoleFile {
  modifiedAtMs: number
}

export class ConsoleFiles {
  readonly #dist: URL
  readonly #cached = new BoundedMap<string, CachedFile>(FILES_MAX)

  constructor(dist: URL = CONSOLE_DIST) {
    this.#dist = dist
  }

  /** The file at a path under /console/; the address of a page gets the index. */
  async find(path: string): Promise<ConsoleFile | 'not-built' | null> {
    const type = TYPES[/\.([a-z]+)$/.exec(path)?.[1] ?? '']
    if (type === undefined || path === INDEX) return (await this.#read(INDEX)) ?? 'not-built'
    return NAME.test(path) ? this.#read(path) : null
  }

  async #read(name: string): Promise<ConsoleFile | null> {
    const path = fileURLToPath(new URL(name, this.#dist))
    const found = await stat(path).catch(() => null)
    if (found === null || !found.isFile() || found.size > FILE_BYTES_MAX) return null
    const cached = this.#cached.get(name)
    if (cached?.modifiedAtMs === found.mtimeMs) return cached
    const file = await load(name, path, found.mtimeMs).catch(() => null)
    if (file !== null) this.#cached.set(name, file)
    return file
  }
}

async function load(name: string, path: string, modifiedAtMs: number): Promise<CachedFile> {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  return {
    ...(await keepFile(await readFile(path))),
    type,
    isImmutable: name.startsWith('assets/'),
    modifiedAtMs,
  }
}
