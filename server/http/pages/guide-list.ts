// Which guides are served at /guides, in which order, and to whom: as the tables of docs/README.md have them. Where the
// operator has a port of its own, what only an operator needs is served there and not at the public one.

import { readFileSync } from 'node:fs'
import { DOCS } from './shipped-folders.ts'

export interface Guide {
  /** In its address, and the name of its file: docs/<name>.md. */
  name: string
  title: string
  about: string
}

export interface GuideGroup {
  title: string
  audience: 'everyone' | 'operator'
  guides: readonly Guide[]
}

const FOR_OPERATORS = 'Operate'
const TABLE = /^\| ([^|]+) \| For \|.*\n\|.*\n((?:\|.*\n)+)/gm
/** The decisions, a folder, are for those who change Paybell. */
const ROW = /^\| \[([^\]]+)\]\((?:\.\.\/)?([\w-]+)(?:\/README)?\.md\) \|[^|]+\| ([^|]+) \|$/gm

/** None where the files are not installed. */
export function readGuideGroups(): readonly GuideGroup[] {
  return [...readIndex().matchAll(TABLE)].map(([, title = '', rows = '']) => ({
    title,
    audience: title === FOR_OPERATORS ? 'operator' : 'everyone',
    guides: [...rows.matchAll(ROW)].map(([, title = '', name = '', about = '']) => ({
      name,
      title,
      about: `${about.charAt(0).toUpperCase()}${about.slice(1)}.`,
    })),
  }))
}

function readIndex(): string {
  try {
    return readFileSync(new URL('README.md', DOCS), 'utf8')
  } catch {
    return ''
  }
}
