// The body of a callback without the file of its document. Cut out of the text, so that every other
// character, amounts above all, stays as it was sent.

export interface DocumentFacts {
  name: string
  mediaType: string
  fileBytes: number
}

const FILE_MEMBER = /,"base64EncodedFile":"([A-Za-z0-9+/]*={0,2})"/
const FILE_SEAM = ',"base64EncodedFile":""'

/** The whole body in, the body without its file out, and how large that file is. */
export function splitBody(whole: string): { text: string; document: DocumentFacts | null } {
  const found = FILE_MEMBER.exec(whole)
  if (found === null) return { text: whole, document: null }
  const base64 = found[1] ?? ''
  const text = whole.slice(0, found.index) + whole.slice(found.index + found[0].length)
  return { text, document: toFacts(text, decodedBytes(base64.length, base64)) }
}

/** From a body that came without its file, and the length of the whole. */
export function documentOf(text: string, wholeBytes: number): DocumentFacts | null {
  const bytes = new TextEncoder().encode(text).length
  if (wholeBytes <= bytes) return null
  return toFacts(text, decodedBytes(wholeBytes - bytes - FILE_SEAM.length, ''))
}

/** The file itself, from the whole body. */
export function fileOf(whole: string): Uint8Array<ArrayBuffer> {
  const base64 = FILE_MEMBER.exec(whole)?.[1] ?? ''
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
}

function decodedBytes(characters: number, base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return (characters / 4) * 3 - padding
}

function toFacts(text: string, fileBytes: number): DocumentFacts | null {
  try {
    const { document } = JSON.parse(text) as { document?: { name: string; mediaType: string } }
    if (!document) return null
    return { name: String(document.name), mediaType: String(document.mediaType), fileBytes }
  } catch {
    return null
  }
}
