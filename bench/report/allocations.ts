// Reads a sampled profile of V8's allocations. Bytes count for the innermost function that is ours or of a package; what
// Node allocates below it is told apart by function, and what it allocates on its own is Node's.

export interface AllocationNode {
  callFrame: { functionName: string; url: string; lineNumber: number }
  selfSize: number
  children: readonly AllocationNode[]
}

export type Sums = readonly (readonly [name: string, bytes: number])[]

export function sumAllocations(head: AllocationNode): {
  byFile: Sums
  byFunction: Sums
  total: number
} {
  const files = new Map<string, number>()
  const functions = new Map<string, number>()
  let total = 0
  // Not by recursion: stacks are as deep as the service's.
  const open = [{ node: head, file: '(node)', name: '(node)' }]
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const { callFrame, selfSize, children } = one.node
    const { url, functionName, lineNumber } = callFrame
    const isNamed = url.startsWith('file:') || url.startsWith('/')
    const file = isNamed ? shorten(url) : one.file
    const name = isNamed ? `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}` : one.name
    total += selfSize
    add(files, file, selfSize)
    add(functions, url.startsWith('node:') ? `${functionName} under ${name}` : name, selfSize)
    for (const node of children) open.push({ node, file, name })
  }
  return { byFile: sorted(files), byFunction: sorted(functions), total }
}

function add(to: Map<string, number>, key: string, bytes: number): void {
  to.set(key, (to.get(key) ?? 0) + bytes)
}

function sorted(sums: Map<string, number>): Sums {
  return [...sums].toSorted(([, one], [, other]) => other - one)
}

function shorten(url: string): string {
  return url.replace(/^.*\/node_modules\//, '').replace(/^.*?\/(server\/|bench\/|cli\/)/, '$1')
}
