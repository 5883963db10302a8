// Reads a V8 CPU profile: which functions the time of a period was spent in, by self time.

import { readFile } from 'node:fs/promises'

interface ProfileNode {
  id: number
  callFrame: { functionName: string; url: string; lineNumber: number }
  children?: number[]
}

interface CpuProfile {
  nodes: ProfileNode[]
  samples: number[]
  timeDeltas: number[]
  startTime: number
}

export interface SelfTime {
  name: string
  share: number
  selfMs: number
}

/** `fromMs` and `untilMs` on the monotonic clock, which V8 stamps its samples with. */
export async function readSelfTimes(
  path: string,
  fromMs: number,
  untilMs: number,
): Promise<{ byFunction: SelfTime[]; byPackage: SelfTime[]; busyMs: number }> {
  const profile = JSON.parse(await readFile(path, 'utf8')) as CpuProfile
  const names = new Map<number, ProfileNode>()
  for (const node of profile.nodes) names.set(node.id, node)
  const functions = new Map<string, number>()
  const packages = new Map<string, number>()
  let atUs = profile.startTime
  let busyUs = 0
  for (const [index, id] of profile.samples.entries()) {
    const deltaUs = profile.timeDeltas[index] as number
    atUs += deltaUs
    if (atUs / 1_000 < fromMs || atUs / 1_000 > untilMs) continue
    const { callFrame } = names.get(id) as ProfileNode
    if (callFrame.functionName === '(idle)') continue
    busyUs += deltaUs
    add(functions, describe(callFrame), deltaUs)
    add(packages, packageOf(callFrame), deltaUs)
  }
  return {
    byFunction: sorted(functions, busyUs),
    byPackage: sorted(packages, busyUs),
    busyMs: busyUs / 1_000,
  }
}

function add(to: Map<string, number>, key: string, us: number): void {
  to.set(key, (to.get(key) ?? 0) + us)
}

function sorted(times: Map<string, number>, busyUs: number): SelfTime[] {
  return [...times]
    .map(([name, us]) => ({ name, share: us / busyUs, selfMs: us / 1_000 }))
    .sort((a, b) => b.selfMs - a.selfMs)
}

function describe({ functionName, url, lineNumber }: ProfileNode['callFrame']): string {
  return `${functionName || '(anonymous)'} ${shorten(url)}${url ? `:${lineNumber + 1}` : ''}`
}

function shorten(url: string): string {
  return url.replace(/^.*\/node_modules\//, '').replace(/^.*\/(server\/)/, '$1')
}

function packageOf({ functionName, url }: ProfileNode['callFrame']): string {
  if (url === '') return functionName.startsWith('(') ? functionName : 'native'
  const text = shorten(url)
  if (url.startsWith('node:')) return text.split('/').slice(0, 2).join('/')
  if (text.startsWith('server/')) return text.split('/').slice(0, 2).join('/')
  return text.startsWith('@')
    ? text.split('/').slice(0, 2).join('/')
    : (text.split('/')[0] as string)
}
