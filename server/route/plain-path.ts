// Whether a path means the same to all who read it. Pure. The route compares paths as they are written, while a cell,
// or a proxy before it, may decode `%6f`, drop `..` or join `//`, and then read another one: `/%6fperator/v1/keys`. No
// address of the interface needs any of these.

const AMBIGUOUS = /[%\\#]|\/\/|\/\.{1,2}(?:\/|$)/

export function isPlainPath(path: string): boolean {
  return !AMBIGUOUS.test(path)
}
