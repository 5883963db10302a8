// Where the files lie that are served as they are. A package has them in the same places as a checkout: two
// folders above this file.

export const CONSOLE_DIST = new URL('../../../console/dist/', import.meta.url)
export const DOCS = new URL('../../../docs/', import.meta.url)
