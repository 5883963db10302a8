// The body of a callback: the payment's canonical text with the file inside its document, with a link in its place, or
// without it. Made of what is stored once (text and file), and the same bytes on every attempt and every replay.

/** The bytes between text and file, and after the file. */
const BEFORE_FILE = Buffer.from(',"base64EncodedFile":"')
const BEHIND_FILE = Buffer.from('"}}')

/** The parts in order, so that 13 MB of file are signed and sent without being copied. */
export function callbackBodyParts(
  text: string | Uint8Array,
  base64: Uint8Array | null,
): Uint8Array[] {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  // Our own mistakes: a document without its file breaks the interface, and so would a file that
  // lands in a payment without a document.
  if (hasDocument(bytes) !== (base64 !== null)) {
    throw new Error(base64 === null ? 'a document without its file' : 'a file without its document')
  }
  if (base64 === null) return [bytes]
  return [bytes.subarray(0, -2), BEFORE_FILE, base64, BEHIND_FILE]
}

/** `url` stands where the file would; null: nothing does. It has no character that JSON escapes. */
export function callbackBodyWithoutFile(text: string, url: string | null): Uint8Array[] {
  const bytes = Buffer.from(text)
  if (url === null || !hasDocument(bytes)) return [bytes]
  return [bytes.subarray(0, -2), Buffer.from(`,"url":"${url}"}}`)]
}

const BRACE = 0x7d

/** No object but `document` can be the last member: just then the text ends in two braces. */
function hasDocument(bytes: Uint8Array): boolean {
  return bytes[bytes.length - 1] === BRACE && bytes[bytes.length - 2] === BRACE
}
