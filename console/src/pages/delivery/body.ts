// The body of a callback without the file of its document. Cut out of the text, so that every other
// character, amounts above all, stays as it was sent.

export interface DocumentFacts {
  name: string
  mediaType: string
  fileBytes: number
}

const FILE_MEMBER = /,"base64EncodedFile":"([A-Za-z0-9+/]*={0,2})"/
const FILE_SEAM = ',"base64EncodedFile":""'

/** From a body that came without its file, and the length of the whole. */
export function documentOf(text: string, wholeBytes: number): DocumentFacts | null {
  const bytes = new TextEncoder().encode(text).length
  if (wholeBytes <= bytes) return null
  // Without the padding, which is not known: at most two bytes too many.
  return toFacts(text, ((wholeBytes - bytes - FILE_SEAM.length) / 4) * 3)
}

/** The file itself, from the whole body. */
export function fileOf(whole: string): Uint8Array<ArrayBuffer> {
  const base64 = FILE_MEMBER.exec(whole)?.[1] ?? ''
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
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
