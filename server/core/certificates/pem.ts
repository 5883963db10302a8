// PEM (RFC 7468) as people paste it: blocks with text around them. Only whole blocks count, and all of them.

export interface PemBlock {
  label: string
  /** The block alone, with its lines. */
  text: string
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,40})-----\r?\n?([A-Za-z0-9+/=\s:,-]*?)-----END \1-----/g

export function pemBlocks(text: string): PemBlock[] {
  return [...text.matchAll(BLOCK)].map(([whole, label = '']) => ({ label, text: `${whole}\n` }))
}
