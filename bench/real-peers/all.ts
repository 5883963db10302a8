// The real peers, by the name under which `--real-peers` gives their program.

import type { System } from '../harness/system.ts'
import { outpost } from './outpost.ts'
import { svix } from './svix.ts'

const MAKERS: Readonly<Record<string, (path: string) => System>> = { svix, outpost }

/** Such as `svix=/opt/svix-server,outpost=/opt/outpost-server`. */
export function readRealPeers(text: string | undefined): readonly System[] {
  if (text === undefined) return []
  return text.split(',').map((part) => {
    const [name = '', path = ''] = part.split('=')
    const make = MAKERS[name]
    if (make === undefined || path === '') {
      throw new Error(
        `--real-peers: "${part}" is not <name>=<program>, with a name of ${Object.keys(MAKERS).join(', ')}`,
      )
    }
    return make(path)
  })
}
