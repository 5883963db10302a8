// What the numbers were measured on: printed above every table, because without it they say nothing.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus, release, totalmem } from 'node:os'

export interface Machine {
  cores: number
  cpu: string
  memoryGb: number
  kernel: string
  node: string
}

export function describeMachine(): Machine {
  const all = cpus()
  return {
    cores: all.length,
    cpu: all[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.version,
  }
}

/** Of the packages that take part; the peers' own live beside the benchmark. */
export function packageVersions(names: readonly string[]): Record<string, string> {
  const versions: Record<string, string> = {}
  for (const name of names) {
    for (const from of ['../package.json', '../../server/package.json']) {
      const found = findVersion(name, new URL(from, import.meta.url))
      if (found !== null) {
        versions[name] = found
        break
      }
    }
  }
  return versions
}

function findVersion(name: string, from: URL): string | null {
  for (const folder of createRequire(from).resolve.paths(name) ?? []) {
    try {
      return JSON.parse(readFileSync(`${folder}/${name}/package.json`, 'utf8')).version
    } catch {}
  }
  return null
}
